//! The journal of an execution: an ordered list of what has happened, kept as JSON text.
//!
//! An operation of the tool (a step, a question) writes one entry in the order of the code. What
//! comes from outside (an answer) is an entry too and names the operation it belongs to; it may
//! stand anywhere behind it.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    ToolError,
    faithful::fingerprint,
    host::Timestamp,
    input::form::{Answer, Ask},
};

/// What kind of thing an entry tells. The names are storage format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A step ended, well or badly.
    Step,
    /// A step began that must not begin twice.
    Began,
    /// A fan-out of steps began.
    Group,
    /// A member of a fan-out ended.
    Member,
    /// Something was cleaned up.
    Cleanup,
    /// A question was put.
    Asked,
    /// A question was answered, declined or dismissed.
    Answered,
    /// Nobody answered a question in time.
    TimedOut,
    /// A question could not be put.
    Refused,
    /// A sleep began.
    Asleep,
    /// A sleep ended.
    Woke,
    /// The time was looked at.
    Now,
    /// The call became a task, or could not, or did not have to.
    Detached,
}

impl Kind {
    /// Whether an operation of the tool wrote it, so that a replay meets it in its order. All
    /// others belong to one that did, and stand anywhere behind it.
    pub(crate) const fn is_operation(self) -> bool {
        match self {
            Self::Step
            | Self::Group
            | Self::Cleanup
            | Self::Asked
            | Self::Asleep
            | Self::Now
            | Self::Detached => true,
            Self::Began
            | Self::Member
            | Self::Answered
            | Self::TimedOut
            | Self::Refused
            | Self::Woke => false,
        }
    }

    /// The word for it in messages to people.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Step | Self::Began | Self::Member => "step",
            Self::Group => "group of steps",
            Self::Cleanup => "cleanup",
            Self::Asked | Self::TimedOut | Self::Refused => "question",
            Self::Answered => "answer",
            Self::Asleep | Self::Woke => "sleep",
            Self::Now => "look at the time",
            Self::Detached => "change to a task",
        }
    }
}

/// One entry of a journal.
///
/// ```
/// use siding::journal::Entry;
///
/// let text = r#"{"kind":"step","key":"plan","value":{"ok":"three hosts"}}"#;
/// let entry: Entry = serde_json::from_str(text).unwrap();
/// assert_eq!(entry.key(), "plan");
/// assert_eq!(serde_json::to_string(&entry).unwrap(), text);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    kind: Kind,
    key: Box<str>,
    value: Box<RawValue>,
}

/// How a step ended, around the bytes of its value.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome<T> {
    Ok(T),
    Err(ToolError),
}

impl<T> From<Outcome<T>> for Result<T, ToolError> {
    fn from(outcome: Outcome<T>) -> Self {
        match outcome {
            Outcome::Ok(value) => Ok(value),
            Outcome::Err(error) => Err(error),
        }
    }
}

impl Entry {
    /// What kind of entry it is.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Which operation it belongs to.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The entry of a step, or of what is like one, that ended in `outcome`, and the outcome as a
    /// replay will read it. A value that JSON cannot hold as it is, or that is larger than `limit`
    /// bytes, makes it a failure.
    pub(crate) fn ended<T: Serialize + DeserializeOwned>(
        kind: Kind,
        key: &str,
        outcome: Result<T, ToolError>,
        limit: usize,
    ) -> (Self, Result<T, ToolError>) {
        let outcome = match outcome {
            Ok(value) => Outcome::Ok(value),
            Err(error) => Outcome::Err(error),
        };
        let (value, outcome) = written(&outcome, limit).unwrap_or_else(|why| {
            let noun = kind.noun();
            let error = ToolError::new(format!("the value of the {noun} `{key}` {why}"));
            let failure = raw(&Outcome::<()>::Err(error.clone()));
            (failure, Outcome::Err(error))
        });
        (Self::raw(kind, key, value), outcome.into())
    }

    pub(crate) fn asked(key: &str, ask: &Ask) -> Self {
        Self::raw(Kind::Asked, key, raw(ask))
    }

    pub(crate) fn answered(key: &str, answer: &Answer) -> Self {
        Self::raw(Kind::Answered, key, raw(answer))
    }

    pub(crate) fn timed_out(key: &str) -> Self {
        Self::raw(Kind::TimedOut, key, raw(&()))
    }

    pub(crate) fn refused(key: &str, why: &ToolError) -> Self {
        Self::raw(Kind::Refused, key, raw(why))
    }

    pub(crate) fn asleep(key: &str, until: Timestamp) -> Self {
        Self::raw(Kind::Asleep, key, raw(&until))
    }

    pub(crate) fn woke(key: &str) -> Self {
        Self::raw(Kind::Woke, key, raw(&()))
    }

    pub(crate) fn now(key: &str, now: Timestamp) -> Self {
        Self::raw(Kind::Now, key, raw(&now))
    }

    pub(crate) fn began(key: &str) -> Self {
        Self::raw(Kind::Began, key, raw(&()))
    }

    /// A fan-out of `members` steps.
    pub(crate) fn group(key: &str, members: usize) -> Self {
        Self::raw(Kind::Group, key, raw(&members))
    }

    fn raw(kind: Kind, key: &str, value: Box<RawValue>) -> Self {
        Self {
            kind,
            key: key.into(),
            value,
        }
    }

    /// Whether it tells that something was cleaned up.
    pub(crate) fn is_cleanup(&self) -> bool {
        self.kind == Kind::Cleanup
    }

    /// How much of the journal it takes, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.key.len() + self.value.get().len()
    }

    /// The outcome of the step that this entry tells of.
    pub(crate) fn outcome<T: DeserializeOwned>(
        &self,
    ) -> Result<Result<T, ToolError>, serde_json::Error> {
        serde_json::from_str::<Outcome<T>>(self.value.get()).map(Into::into)
    }

    /// What this entry tells: a question, an answer, a time, a number of members.
    pub(crate) fn tells<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.value.get())
    }
}

/// The JSON of a value of this crate, whose `Serialize` cannot fail.
fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("values of the journal have only string keys")
}

/// The JSON of `outcome`, and what is read from it.
///
/// # Errors
///
/// Why the value cannot be kept, in words.
fn written<T: Serialize + DeserializeOwned>(
    outcome: &Outcome<T>,
    limit: usize,
) -> Result<(Box<RawValue>, Outcome<T>), String> {
    let written = serde_json::value::to_raw_value(outcome)
        .map_err(|error| format!("cannot be written as JSON: {error}"))?;
    let bytes = written.get().len();
    if bytes > limit {
        return Err(format!(
            "has {bytes} bytes, more than the {limit} that a journal value may have; keep it \
             elsewhere and return where it is"
        ));
    }
    let read = serde_json::from_str(written.get()).map_err(|error| {
        // It may quote the value.
        let error: String = error.to_string().chars().take(200).collect();
        format!(
            "cannot be read back from the journal ({error}); return a value whose type reads the \
             JSON that it writes, with finite numbers and all required fields"
        )
    })?;
    match (fingerprint(outcome), fingerprint(&read)) {
        (Ok(before), Ok(after)) if before == after => Ok((written, read)),
        _ => Err(
            "is read back from the journal as another value; return a value that JSON can \
                  hold: with finite numbers, without a `Some` of something that is `null`, and \
                  with each key once"
                .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn step<T: Serialize + DeserializeOwned>(outcome: Result<T, ToolError>) -> Entry {
        let (entry, _) = Entry::ended(Kind::Step, "s", outcome, 100);
        entry
    }

    #[test]
    fn a_step_reads_back_what_it_wrote() {
        let entry = step(Ok(0.1_f32 + 0.2));
        assert_eq!(entry.outcome::<f32>().unwrap(), Ok(0.1_f32 + 0.2));
        let failed = step::<u8>(Err(ToolError::new("no")));
        assert_eq!(failed.outcome::<u8>().unwrap(), Err(ToolError::new("no")));
    }

    #[test]
    fn a_value_that_json_cannot_hold_is_a_failure_of_the_step() {
        let map = HashMap::from([((1, 2), 3)]);
        let error = step(Ok(map)).outcome::<()>().unwrap().unwrap_err();
        assert!(
            error.to_string().contains("the step `s` cannot be written"),
            "{error}"
        );
    }

    #[test]
    fn a_value_that_cannot_be_read_back_is_not_quoted_at_length() {
        #[derive(Deserialize)]
        struct Never;

        impl Serialize for Never {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&"x".repeat(2_000))
            }
        }
        let (entry, outcome) = Entry::ended(Kind::Step, "s", Ok(Never), 4_000);
        let error = outcome.err().unwrap().to_string();
        assert!(error.contains("`s` cannot be read back"), "{error}");
        assert!(entry.size() < 1_000);
    }

    #[test]
    fn a_step_hands_on_what_a_replay_reads() {
        for outcome in [Ok(Some(f64::NAN)), Ok(Some(0.1)), Err(ToolError::new("no"))] {
            let (entry, given) = Entry::ended(Kind::Step, "s", outcome, 400);
            assert_eq!(entry.outcome::<Option<f64>>().unwrap(), given);
        }
    }

    #[test]
    fn a_value_that_is_too_large_is_a_failure_of_the_step_and_not_kept() {
        let entry = step(Ok("x".repeat(200)));
        assert!(entry.size() < 300);
        let error = entry.outcome::<String>().unwrap().unwrap_err();
        assert!(error.to_string().contains("more than the 100"), "{error}");
    }
}
