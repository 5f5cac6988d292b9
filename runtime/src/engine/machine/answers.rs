//! Answers to the questions of a task.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Refusal, Report, Verdict, change_with};
use crate::{
    host::Timestamp,
    journal::Entry,
    record::{Record, Status},
};

/// What is over takes nothing, but a client that did not know is not told off.
pub(super) fn too_late(answers: BTreeMap<String, Value>) -> Verdict {
    Verdict::Unchanged(Report {
        ignored: answers.into_keys().collect(),
        ..Report::default()
    })
}

/// Takes all of an update that was asked for, or nothing where one answer does not fit.
pub(super) fn take(record: &Record, answers: BTreeMap<String, Value>, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    let mut report = Report::default();
    let mut entries = Vec::new();
    for (key, response) in answers {
        // The key first, the value after: what nobody asked for is not judged. A question whose
        // deadline has passed waits only for its timer.
        let asked = |pinned: &crate::record::Pinned| {
            pinned.key == key && pinned.deadline.is_none_or(|deadline| deadline > now)
        };
        let Some(place) = next.questions.iter().position(asked) else {
            report.ignored.push(key);
            continue;
        };
        match next.questions[place].ask.read(response) {
            Ok(answer) => {
                entries.push(Entry::answered(&key, &answer));
                next.questions.remove(place);
                report.accepted.push(key);
            }
            Err(violation) => return Verdict::Refused(Refusal::WrongAnswer { key, violation }),
        }
    }
    report.outstanding = next
        .questions
        .iter()
        .map(|pinned| pinned.key.clone())
        .collect();
    if report.accepted.is_empty() {
        return Verdict::Unchanged(report);
    }
    if next.questions.is_empty() {
        next.status = Status::Working;
        next.answered = true;
    }
    match change_with(record, next, entries, now) {
        Verdict::Change(transition, _) => Verdict::Change(transition, report),
        other => other,
    }
}
