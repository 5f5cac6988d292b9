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
        Just(progressed()),
        Just(status("busy")),
        keys.prop_map(|keys| parked_on(&keys.into_iter().collect::<Vec<_>>())),
        prop::sample::select(vec![
            Release::AtRest,
            Release::Interrupted,
            Release::OutOfTime
        ])
        .prop_map(LegEvent::Released),
        Just(drifted()),
        Just(finished()),
    ];
    let event = prop_oneof![
        2 => Just(claim()),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(b, alone)| death(if b { "b" } else { "a" }, alone)),
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
        cleans_up in any::<bool>(),
    ) {
        let mut record = created();
        Arc::make_mut(&mut record.origin).cleans_up = cleans_up;
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
            let closes = record.closing.is_some() || record.is_expired(now);
            prop_assert!(!over || closes || next.life != Life::Present);
            prop_assert!(!record.status.is_terminal() || next.end == record.end || next.end.is_none());
            prop_assert_eq!(next.version, record.version + 1);
            // Only a claim takes the fence, and never one that is held.
            let fenced = next.fence != record.fence;
            prop_assert!(!fenced || claims);
            prop_assert!(!fenced || record.lease.is_none());
            // What is held is due for nobody, and what has to be cleaned up is not forgotten.
            prop_assert!(next.lease.is_none() || next.index().due_at.is_none());
            prop_assert!(next.closing.is_none() || next.index().due_at.or(next.index().worker.map(|_| now)).is_some());
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
