//! Rounds: spent on one set of answers, and named by nothing but their own name.

use super::*;

/// A call that asks by rounds, before it asked anything.
fn called() -> Record {
    delivered(Delivery::Rounds)
}

fn asked(record: &Record, name: &str, keys: &[&str]) -> Record {
    let LegEvent::Parked { parking, .. } = parked_on(keys) else {
        unreachable!("it parks");
    };
    let round = Some(name.to_owned());
    let told = Told::default();
    let event = LegEvent::Parked {
        parking,
        round,
        told,
        cut_off: false,
    };
    after(record, leg(record.fence, event), at(5))
}

fn returned(round: &str, given: &[(&str, Value)]) -> Event {
    let Event::Answered(answers) = answers(given) else {
        unreachable!("these are answers");
    };
    let round = round.to_owned();
    Event::Retried { round, answers }
}

/// The first round asked for `a` and `b`, and was answered; the second asks for `c`.
fn in_the_second_round() -> Record {
    let first = asked(&called(), "one", &["a", "b"]);
    let both = returned("one", &[("a", yes()), ("b", yes())]);
    let spent = after(&first, both, at(6));
    let claimed = after(&spent, claim(), at(7));
    asked(&claimed, "two", &["c"])
}

fn refusal(record: &Record, event: Event) -> Refusal {
    match apply(record, event, at(9)) {
        Verdict::Refused(refusal) => refusal,
        other => panic!("it was not refused: {other:?}"),
    }
}

fn unchanged(record: &Record, event: Event) -> Report {
    match apply(record, event, at(9)) {
        Verdict::Unchanged(report) => report,
        other => panic!("it changed something: {other:?}"),
    }
}

#[test]
fn a_round_is_named_and_no_worker_goes_on_with_it_alone() {
    let asked = asked(&called(), "one", &["a"]);
    assert_eq!(asked.request_state().as_deref(), Some("t.one"));
    assert_eq!(asked.status, Status::InputRequired);
    assert_eq!(asked.index().due_at, None);
    let spent = after(&asked, returned("one", &[("a", yes())]), at(6));
    assert_eq!(spent.status, Status::Working);
    assert_eq!(spent.index().due_at, None);
    assert!(spent.index().alarm_at.is_some());
}

#[test]
fn missing_and_unfit_answers_do_not_spend_a_round() {
    let asked = asked(&called(), "one", &["a", "b"]);
    let wrong = json!({ "action": "accept", "content": { "value": "banana" } });
    let report = unchanged(&asked, returned("one", &[("a", wrong)]));
    let unfit: Vec<_> = report.unfit.keys().collect();
    assert_eq!(unfit, ["a", "b"]);
    assert!(report.unfit["a"].contains("`value` must be"), "{report:?}");
    assert!(report.accepted.is_empty());
    // Nor does one that fits, as long as the other is missing.
    let report = unchanged(&asked, returned("one", &[("a", yes())]));
    assert_eq!(report.unfit.keys().collect::<Vec<_>>(), ["b"]);
    assert!(report.accepted.is_empty());
}

#[test]
fn the_same_answers_again_change_nothing_and_other_ones_are_refused() {
    let second = in_the_second_round();
    let same = [("a", yes()), ("b", yes()), ("nobody asked", yes())];
    assert_eq!(
        unchanged(&second, returned("one", &same)),
        Report::default()
    );
    let other = [("a", yes()), ("b", json!({ "action": "decline" }))];
    assert_eq!(
        refusal(&second, returned("one", &other)),
        Refusal::OtherAnswers
    );
    // While the leg runs that they began, too.
    let spent = after(&second, returned("two", &[("c", yes())]), at(10));
    assert_eq!(
        unchanged(&spent, returned("two", &[("c", yes())])),
        Report::default()
    );
    assert_eq!(
        refusal(&spent, returned("two", &[("c", json!(42))])),
        Refusal::OtherAnswers
    );
}

#[test]
fn u19_older_rounds_and_names_that_nobody_gave_are_refused() {
    let second = in_the_second_round();
    let spent = after(&second, returned("two", &[("c", yes())]), at(10));
    for name in ["one", "three", ""] {
        let again = returned(name, &[("a", yes()), ("b", yes())]);
        assert_eq!(refusal(&spent, again), Refusal::NoSuchRound, "{name}");
    }
    let task = after(&created(), leg(1, parked_on(&["a"])), at(5));
    let event = returned("", &[("a", yes())]);
    assert_eq!(refusal(&task, event), Refusal::NoSuchRound);
}

#[test]
fn a_question_whose_time_is_over_needs_no_answer() {
    let mut asked = asked(&called(), "one", &["a", "b"]);
    asked.questions[0].deadline = Some(at(50));
    let event = returned("one", &[("b", yes())]);
    let early = apply(&asked, event.clone(), at(49));
    assert!(matches!(early, Verdict::Unchanged(report) if report.unfit.contains_key("a")));
    let spent = after(&asked, event, at(50));
    assert_eq!(spent.status, Status::Working);
}

#[test]
fn over_is_over_for_rounds_too() {
    let asked = asked(&called(), "one", &["a"]);
    let event = returned("one", &[("a", yes())]);
    let late = apply(&asked, event.clone(), at(10_000));
    assert!(matches!(late, Verdict::Refused(Refusal::Over)));
    let cancelled = after(&asked, cancel(), at(6));
    assert_eq!(unchanged(&cancelled, event), Report::default());
}

#[test]
fn u12_what_is_detached_is_a_task_with_all_that_was_asked_before() {
    let first = asked(&called(), "one", &["a"]);
    let spent = after(&first, returned("one", &[("a", yes())]), at(6));
    let claimed = after(&spent, claim(), at(7));
    let task = after(&claimed, leg(claimed.fence, LegEvent::Detached), at(8));
    assert!(task.is_task());
    assert_eq!(task.spent, ["a"]);
    assert_eq!(task.index().worker, Some("b"));
    // A client that lost the reply finds the task again.
    let again = returned("one", &[("a", yes())]);
    assert_eq!(unchanged(&task, again), Report::default());
    let other = returned("one", &[("a", json!(42))]);
    assert_eq!(refusal(&task, other), Refusal::OtherAnswers);
}

#[test]
fn what_happened_before_a_record_was_written_is_written_with_it() {
    let LegEvent::Parked { mut parking, .. } = parked_on(&["a"]) else {
        unreachable!("it parks");
    };
    parking.entries = vec![Entry::now("now", at(1))];
    let told = Told {
        status: Some("asking".into()),
        ..Told::default()
    };
    let round = Some("one".to_owned());
    let events = vec![LegEvent::Parked {
        parking,
        round,
        told,
        cut_off: false,
    }];
    let (record, journal) = begun(called(), events, at(5)).unwrap();
    assert_eq!(record.status_message.as_deref(), Some("asking"));
    assert_eq!(record.request_state().as_deref(), Some("t.one"));
    let keys: Vec<_> = journal.iter().map(Entry::key).collect();
    assert_eq!(keys, ["now", "a"]);
    assert_eq!(record.lease, None);
}
