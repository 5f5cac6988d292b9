//! The rounds of a call that asks by round trips (SEP-2322).

use std::{collections::BTreeMap, iter, mem};

use serde_json::Value;

use super::{Refusal, Report, Verdict, change_with, leg::fire_timers};
use crate::{
    digest::digest,
    host::Timestamp,
    journal::Entry,
    record::{Record, Round, Rounds, Status},
};

type Responses = BTreeMap<String, Value>;

/// Takes the answers to a round, all or none of them. A round is spent on one set of answers: the
/// same ones again change nothing, so that a client may ask again for a reply that it lost.
pub(super) fn take(record: &Record, round: &str, answers: &Responses, now: Timestamp) -> Verdict {
    let Some(Rounds { current, before }) = &record.rounds else {
        return Verdict::Refused(Refusal::NoSuchRound);
    };
    // While the current round is open, it is the reply to the answers to the one before.
    let before = before.as_ref().filter(|_| current.answers.is_none());
    let mut known = iter::once(current).chain(before);
    let Some(named) = known.find(|known| known.name == round) else {
        return Verdict::Refused(Refusal::NoSuchRound);
    };
    match &named.answers {
        None if record.status.is_terminal() => Verdict::Unchanged(Report::default()),
        None => spend(record, answers, now),
        Some(spent) if *spent == named.digest(answers) => Verdict::Unchanged(Report::default()),
        Some(_) => Verdict::Refused(Refusal::OtherAnswers),
    }
}

fn spend(record: &Record, answers: &Responses, now: Timestamp) -> Verdict {
    let mut next = record.clone();
    let mut report = Report::default();
    // Those that nobody waits for any more need no answer.
    let mut entries = fire_timers(&mut next, now);
    for pinned in mem::take(&mut next.questions) {
        let read = match answers.get(&pinned.key) {
            Some(response) => pinned.ask.read(response.clone()),
            None => Err("This was not answered".into()),
        };
        match read {
            Ok(answer) => {
                entries.push(Entry::answered(&pinned.key, &answer));
                report.accepted.push(pinned.key);
            }
            Err(violation) => {
                report.unfit.insert(pinned.key, violation);
            }
        }
    }
    if !report.unfit.is_empty() {
        report.accepted.clear();
        return Verdict::Unchanged(report);
    }
    next.status = Status::Working;
    if let Some(Rounds { current, .. }) = &mut next.rounds {
        current.answers = Some(current.digest(answers));
    }
    match change_with(record, next, entries, now) {
        Verdict::Change(transition, _) => Verdict::Change(transition, report),
        other => other,
    }
}

/// Begins the round called `name`, for the questions that are outstanding.
pub(super) fn begin(next: &mut Record, name: String) {
    let keys = next.questions.iter().map(|pinned| pinned.key.clone());
    let current = Round {
        name,
        keys: keys.collect(),
        answers: None,
    };
    let before = next.rounds.take().map(|rounds| rounds.current);
    next.rounds = Some(Rounds { current, before });
}

impl Round {
    /// What tells these answers from others; what was not asked for does not count.
    fn digest(&self, answers: &Responses) -> String {
        digest(answers.iter().filter(|(key, _)| self.keys.contains(key)))
    }
}
