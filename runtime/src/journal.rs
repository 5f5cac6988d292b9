//! The journal of an execution: an ordered list of what has happened, kept as JSON text.
//!
//! An operation of the tool (a step, a question) writes one entry in the order of the code. What
//! comes from outside (an answer) is an entry too and names the operation it belongs to; it may
//! stand anywhere behind it.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    ToolError,
    input::form::{Answer, Ask},
};

/// What kind of thing an entry tells. The names are storage format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A step ended, well or badly.
    Step,
    /// A question was put.
    Asked,
    /// A question was answered, declined or dismissed.
    Answered,
}

impl Kind {
    /// Whether an operation of the tool wrote it, so that a replay meets it in its order.
    pub(crate) const fn is_operation(self) -> bool {
        match self {
            Self::Step | Self::Asked => true,
            Self::Answered => false,
        }
    }

    /// The word for the operation in messages to people.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Asked => "question",
            Self::Answered => "answer",
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

impl Entry {
    /// What kind of entry it is.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Which operation it belongs to.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The entry of a step that ended in `outcome`; a value that cannot be written as JSON makes
    /// it the failure of the step.
    pub(crate) fn step<T: Serialize>(key: &str, outcome: Result<T, ToolError>) -> Self {
        let outcome = match outcome {
            Ok(value) => Outcome::Ok(value),
            Err(error) => Outcome::Err(error),
        };
        let value = serde_json::value::to_raw_value(&outcome).unwrap_or_else(|error| {
            let error = ToolError::new(format!(
                "the value of the step `{key}` cannot be written as JSON: {error}"
            ));
            raw(&Outcome::<()>::Err(error))
        });
        Self {
            kind: Kind::Step,
            key: key.into(),
            value,
        }
    }

    pub(crate) fn asked(key: &str, ask: &Ask) -> Self {
        Self {
            kind: Kind::Asked,
            key: key.into(),
            value: raw(ask),
        }
    }

    pub(crate) fn answered(key: &str, answer: &Answer) -> Self {
        Self {
            kind: Kind::Answered,
            key: key.into(),
            value: raw(answer),
        }
    }

    /// The outcome of the step that this entry tells of.
    pub(crate) fn outcome<T: DeserializeOwned>(
        &self,
    ) -> Result<Result<T, ToolError>, serde_json::Error> {
        Ok(match self.read()? {
            Outcome::Ok(value) => Ok(value),
            Outcome::Err(error) => Err(error),
        })
    }

    /// The question that this entry tells of.
    pub(crate) fn ask(&self) -> Result<Ask, serde_json::Error> {
        self.read()
    }

    /// The answer that this entry tells of.
    pub(crate) fn answer(&self) -> Result<Answer, serde_json::Error> {
        self.read()
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.value.get())
    }
}

/// The JSON of a value of this crate, whose `Serialize` cannot fail.
fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("values of the journal have only string keys")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_step_reads_back_what_it_wrote() {
        let entry = Entry::step("price", Ok(0.1_f32 + 0.2));
        assert_eq!(entry.outcome::<f32>().unwrap(), Ok(0.1_f32 + 0.2));
        let failed = Entry::step::<u8>("price", Err(ToolError::new("no")));
        assert_eq!(failed.outcome::<u8>().unwrap(), Err(ToolError::new("no")));
    }

    #[test]
    fn a_value_that_json_cannot_hold_is_a_failure_of_the_step() {
        let map = HashMap::from([((1, 2), 3)]);
        let entry = Entry::step("map", Ok(map));
        let error = entry.outcome::<()>().unwrap().unwrap_err();
        assert!(error.to_string().contains("the step `map`"), "{error}");
    }
}
