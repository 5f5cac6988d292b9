//! What must hold, whatever happened.

use std::collections::{HashMap, HashSet};

use super::{
    client::{Answer, Client},
    history::{Life, Line, What},
    rows::Row,
};

/// Checks everything, and tells how many effects were begun by processes that had been overtaken.
pub(super) fn all(history: &[Line], rows: &[Row], client: &Client) -> u32 {
    ends(history, rows);
    journals(rows);
    values(history);
    at_most_once(history);
    answers(history, rows, client);
    cleanups(history, rows);
    for (id, task) in &client.tasks {
        assert!(rows.iter().any(|row| row.id == *id), "{id} is lost");
        if let Some(end) = &task.end {
            let row = rows.iter().find(|row| row.id == *id).unwrap();
            assert_eq!(row.status(), end, "{id} has another end than was told");
        }
    }
    repeated(history)
}

/// What failed, or was not cleaned up, killed its process three times, as far as anybody could see.
fn ends(history: &[Line], rows: &[Row]) {
    let killed: HashSet<Life> = history
        .iter()
        .filter(|line| line.what == What::Killed)
        .map(|line| line.life)
        .collect();
    for row in rows {
        let not_cleaned = row.record["not_cleaned"].as_str();
        if row.status() == "failed" {
            let reason = row.record["end"].to_string();
            assert!(reason.contains("\"stalled\""), "{row:#?}");
        } else if let Some(why) = not_cleaned {
            assert_eq!(why, "it ended its process again and again", "{row:#?}");
        } else {
            continue;
        }
        let legs = history
            .iter()
            .filter(|line| line.task == row.id && line.what == What::Leg);
        let with_kill = legs.filter(|leg| killed.contains(&leg.life)).count();
        assert!(with_kill >= 3, "it was given up too early: {row:#?}");
    }
}

/// Nothing ends twice in a journal.
fn journals(rows: &[Row]) {
    for row in rows {
        let answered = [row.keys("answered"), row.keys("timed_out")].concat();
        let kinds = ["step", "began", "group", "member", "cleanup", "asked"];
        for keys in kinds.iter().map(|kind| row.keys(kind)).chain([answered]) {
            let different: HashSet<_> = keys.iter().collect();
            assert_eq!(different.len(), keys.len(), "twice in a journal: {row:#?}");
        }
    }
}

/// Every leg goes on with the same values, and the other side is given the same keys.
fn values(history: &[Line]) {
    let mut got = HashMap::new();
    let mut keys = HashMap::new();
    for line in history {
        match &line.what {
            What::Got { key, value } => {
                let before = got.entry((&line.task, key)).or_insert(value);
                assert_eq!(*before, value, "another value than before: {line:?}");
            }
            What::Begin {
                key, idempotency, ..
            } => {
                let before = keys.entry((&line.task, key)).or_insert(idempotency);
                assert_eq!(*before, idempotency, "another key than before: {line:?}");
            }
            _ => {}
        }
    }
}

fn at_most_once(history: &[Line]) {
    let mut begun = HashSet::new();
    for line in history {
        if let What::Begin {
            key, once: true, ..
        } = &line.what
        {
            assert!(begun.insert((&line.task, key)), "begun twice: {line:?}");
        }
    }
}

/// Nothing begins again after its outcome was journaled. A process that stood still, or could not
/// write, for so long that others took its task may begin one more effect before it notices: nobody can
/// hold it back.
fn repeated(history: &[Line]) -> u32 {
    let mut overtaken = 0;
    let mut done = HashMap::new();
    for (place, line) in history.iter().enumerate() {
        match &line.what {
            What::Got { key, .. } => {
                done.entry((&line.task, key)).or_insert(place);
            }
            What::Begin { key, .. } => {
                if let Some(done) = done.get(&(&line.task, key)) {
                    let excused = was_overtaken(&history[..place], line, *done);
                    assert!(excused, "begun again: {line:?}");
                    overtaken += 1;
                }
            }
            _ => {}
        }
    }
    overtaken
}

/// Whether the process that made `line` stood still when the outcome came, at the place `done`, or
/// could not write since the leg began. It may have claimed the task before, and begun the leg after.
fn was_overtaken(before: &[Line], line: &Line, done: usize) -> bool {
    let of_life =
        |what: What| move |other: &Line| other.what == what && [line.life, 0].contains(&other.life);
    let last = |lines: &[Line], what: What| lines.iter().rposition(of_life(what));
    let stopped = last(&before[..done], What::Stopped);
    let went_on = last(before, What::Continued);
    let stood_still = stopped.is_some() && last(&before[..done], What::Continued) < stopped;
    if stood_still && went_on > stopped {
        return true;
    }
    let own = before.iter().position(|other| other.leg == line.leg);
    let since = &before[own.unwrap() + 1..];
    let is_other = |other: &Line| other.task == line.task && other.what == What::Leg;
    since.iter().any(is_other) && last(since, What::Freed).is_some()
}

/// An answer that was acknowledged is the one that is used. Where a question has a deadline, and the
/// clocks of the servers are not the same, one of them may take an answer that is late for the other.
fn answers(history: &[Line], rows: &[Row], client: &Client) {
    let used: HashMap<_, _> = history
        .iter()
        .filter_map(|line| match &line.what {
            What::Got { key, value } => Some(((line.task.as_str(), key.as_str()), value)),
            _ => None,
        })
        .collect();
    for (id, task) in &client.tasks {
        for (question, answers) in &task.answers {
            // `ask 3`, or `part/ask 3`.
            let (in_part, place) = question.split_once("ask ").unwrap();
            let key = if in_part.is_empty() {
                place.to_owned()
            } else {
                format!("{place}/answer")
            };
            let Some(used) = used.get(&(id.as_str(), key.as_str())) else {
                let ended = task.end.as_deref();
                assert_ne!(
                    ended,
                    Some("completed"),
                    "{id} used no answer to {question}"
                );
                continue;
            };
            let plan = rows.iter().find(|row| row.id == *id).unwrap().plan();
            let op = &plan[place.parse::<usize>().unwrap()];
            let has_deadline = op["Ask"]["timeout"].is_u64();
            if *used == "timed out" {
                assert!(has_deadline, "{id}: {question} has no deadline");
                continue;
            }
            let taken = answers.iter().find(|answer| answer.value == **used);
            let taken = taken.unwrap_or_else(|| panic!("{id} used {used}, which nobody said"));
            let earlier = |other: &&Answer| other.acknowledged.is_some_and(|at| at < taken.sent);
            assert!(
                has_deadline || !answers.iter().any(|other| earlier(&other)),
                "{id} used {used}, but another answer was acknowledged before"
            );
        }
    }
}

/// What was reserved is given back, once that is in the journal.
fn cleanups(history: &[Line], rows: &[Row]) {
    let undone: HashSet<_> = history
        .iter()
        .filter_map(|line| match &line.what {
            What::End { key, .. } => Some((line.task.as_str(), key.as_str())),
            _ => None,
        })
        .collect();
    let given_up = |row: &&Row| row.status() == "failed" || !row.record["not_cleaned"].is_null();
    for row in rows.iter().filter(|row| !given_up(row)) {
        let reserved = row.plan().iter().enumerate();
        let reserved = reserved.filter(|(_, op)| op.get("Reserve").is_some());
        let count = row
            .keys("step")
            .iter()
            .filter(|key| key.starts_with("reserve"))
            .count();
        for (place, _) in reserved.take(count) {
            let undo = format!("undo {place}");
            assert!(
                undone.contains(&(row.id.as_str(), undo.as_str())),
                "{undo} is missing: {row:#?}"
            );
        }
        let undos = row
            .keys("cleanup")
            .iter()
            .filter(|key| key.starts_with("undo"))
            .count();
        assert_eq!(undos, count, "reserved and given back: {row:#?}");
    }
}
