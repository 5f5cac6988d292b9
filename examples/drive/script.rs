//! Answers that were written down: given with `--answers`, or line by line on standard input.

use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use siding::client::{Answer, Ask, Question};

/// Answers by the keys of questions.
pub(crate) struct Script {
    answers: Mutex<Map<String, Value>>,
    /// Whether a question that has no answer yet is one to wait for on standard input.
    reads_more: bool,
}

impl Script {
    pub(crate) fn new(answers: Map<String, Value>, reads_more: bool) -> Self {
        Self {
            answers: Mutex::new(answers),
            reads_more,
        }
    }

    /// The answer to this question. Each is given once: what was refused would be refused again.
    pub(crate) fn answer(&self, question: &Question) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = std::io::stdin().lines();
        while self.reads_more && !answers.contains_key(&question.key) {
            let Some(Ok(line)) = lines.next() else {
                break;
            };
            match serde_json::from_str::<Map<String, Value>>(&line) {
                Ok(more) => answers.extend(more),
                Err(error) => eprintln!("drive: `{line}` is no JSON object: {error}"),
            }
        }
        match answers.remove(&question.key) {
            None => Answer::Unable,
            Some(Value::Null) => Answer::Decline,
            Some(value) => Answer::Accept(content(&question.ask, value)),
        }
    }
}

/// What is sent for a value that was written down.
fn content(ask: &Ask, value: Value) -> Value {
    match ask {
        Ask::Url(_) => Value::Null,
        Ask::Form(schema) if !value.is_object() && schema.properties.len() == 1 => {
            let field = schema.properties.keys().next();
            json!({ (field.map_or("value", String::as_str)): value })
        }
        _ => value,
    }
}
