//! No sequence of events breaks a rule.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Something that happens to a task, with the time that passed before it.
fn happenings() -> impl Strategy<Value = (u64, Event)> {
    let key = prop::sample::select(vec!["a", "b", "c"]);
    let keys = prop::collection::btree_set(key.clone(), 1..3);
    let response = prop_oneof![
        Just(yes()),
        Just(json!({ "action": "decline" })),
        Just(json!(42))
    ];
    let leg_event = prop_oneof![
        (1_u64..5_000).prop_map(|until| LegEvent::Renewed { until: at(until) }),
        Just(progressed()),
        Just(status("busy")),
        keys.prop_map(|keys| parked_on(&keys.into_iter().collect::<Vec<_>>())),
        Just(LegEvent::Released),
        Just(finished()),
    ];
    let event = prop_oneof![
        2 => (0_u64..3_000).prop_map(|until| Event::Claimed(lease("w", until))),
        4 => (0_u64..4, leg_event).prop_map(|(fence, event)| leg(fence, event)),
        4 => prop::collection::btree_map(key.prop_map(String::from), response, 0..3)
            .prop_map(Event::Answered),
        1 => Just(cancel()),
        1 => Just(Event::Alarm),
    ];
    (0_u64..400, event)
}

proptest! {
    #[test]
    fn no_sequence_of_events_breaks_the_rules(
        happenings in prop::collection::vec(happenings(), 0..40),
    ) {
        let mut record = created();
        let mut now = START;
        let mut accepted: Vec<String> = Vec::new();
        for (pause, event) in happenings {
            now = Timestamp::from_millis(now.as_millis() + pause);
            let claims = matches!(event, Event::Claimed(_));
            let over = record.status.is_terminal() || record.is_expired(now);
            let Verdict::Change(transition, report) = apply(&record, event, now) else {
                continue;
            };
            let Transition { record: next, journal } = *transition;
            let entries = match journal {
                JournalChange::Append(entries) => entries,
                JournalChange::Clear => Vec::new(),
            };
            // After the end nothing changes but what is forgotten.
            prop_assert!(!over || next.life != Life::Present);
            prop_assert_eq!(next.version, record.version + 1);
            // Only a claim takes the fence, and never one that is held.
            let fenced = next.fence != record.fence;
            prop_assert!(!fenced || claims);
            prop_assert!(!fenced || record.lease.as_ref().is_none_or(|lease| lease.until <= now));
            // Questions are shown where, and only where, the task waits for them.
            if next.life == Life::Present {
                prop_assert_eq!(next.status == Status::InputRequired, !next.questions.is_empty());
                prop_assert_eq!(next.status.is_terminal(), next.end.is_some());
            }
            // No key is used twice, and every question has one of its own.
            let mut spent = next.spent.clone();
            spent.sort();
            spent.dedup();
            prop_assert_eq!(spent.len(), next.spent.len());
            prop_assert!(next.questions.iter().all(|pinned| next.spent.contains(&pinned.key)));
            // An answer is accepted once, and stands in the journal when it is.
            for key in &report.accepted {
                prop_assert!(!accepted.contains(key), "{} answered twice", key);
                prop_assert!(entries.iter().any(|entry| entry.key() == key));
                prop_assert!(next.questions.iter().all(|pinned| pinned.key != *key));
            }
            accepted.extend(report.accepted);
            prop_assert!(next.updated_at >= record.updated_at);
            record = next;
        }
    }
}
