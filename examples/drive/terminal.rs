//! Questions at the terminal.

use std::fmt;

use inquire::{
    Confirm, InquireError, MultiSelect, Select, Text, error::InquireResult,
    list_option::ListOption, validator::Validation,
};
use rmcp::model::ElicitationSchema;
use serde_json::{Map, Value};
use siding::client::{Answer, Ask, Question};

use crate::form::{Choice, Field, Kind, fields};

/// What an optional choice offers beside its own options.
const LEFT_OUT: &str = "(leave out)";

/// Puts a question. Esc leaves it, for a choice of what that means; Ctrl-C dismisses it.
pub(crate) fn ask(question: &Question) -> Answer {
    eprintln!("{}", question.message);
    if let Some(violation) = &question.violation {
        eprintln!("The answer before was refused: {violation}");
    }
    loop {
        let answered = match &question.ask {
            Ask::Form(schema) => fill_in(schema).map(Answer::Accept),
            Ask::Url(url) => open(url),
            _ => return Answer::Unable,
        };
        match answered {
            Ok(answer) => return answer,
            Err(InquireError::OperationInterrupted) => return Answer::Dismiss,
            Err(InquireError::OperationCanceled) => {
                if let Some(answer) = leave() {
                    return answer;
                }
            }
            Err(error) => {
                eprintln!("drive: the terminal does not answer: {error}");
                return Answer::Unable;
            }
        }
    }
}

/// Gives the terminal back as it was before a question that nobody answered.
pub(crate) fn restore() {
    // Where it is no terminal, there is nothing to restore.
    let _restored = crossterm::terminal::disable_raw_mode();
}

/// What it means that the question was left; `None` goes back to it.
fn leave() -> Option<Answer> {
    let options = ["dismiss the question", "decline", "answer it after all"];
    let chosen = Select::new("Leave the question?", options.to_vec()).raw_prompt();
    match chosen.map(|option| option.index) {
        Ok(1) => Some(Answer::Decline),
        Ok(2) => None,
        Ok(_) | Err(_) => Some(Answer::Dismiss),
    }
}

fn open(url: &str) -> InquireResult<Answer> {
    eprintln!("  {url}");
    let go_on = Confirm::new("Go on when you are done there?").with_default(true);
    Ok(if go_on.prompt()? {
        Answer::Accept(Value::Null)
    } else {
        Answer::Decline
    })
}

fn fill_in(schema: &ElicitationSchema) -> InquireResult<Value> {
    let mut content = Map::new();
    for field in fields(schema) {
        if let Some(value) = field.ask()? {
            content.insert(field.name, value);
        }
    }
    Ok(Value::Object(content))
}

impl Field {
    /// Puts the field; `None` leaves it out.
    fn ask(&self) -> InquireResult<Option<Value>> {
        match &self.kind {
            Kind::YesNo if self.required || self.default.is_boolean() => {
                let mut prompt = Confirm::new(&self.label).with_help_message(&self.help);
                if let Some(default) = self.default.as_bool() {
                    prompt = prompt.with_default(default);
                }
                prompt.prompt().map(|yes| Some(yes.into()))
            }
            Kind::YesNo => {
                let chosen = self.choose(["yes", "no"].map(str::to_owned).to_vec())?;
                Ok(chosen.map(|at| (at == 0).into()))
            }
            Kind::One(choices) => {
                let titles = choices.iter().map(ToString::to_string).collect();
                let chosen = self.choose(titles)?;
                Ok(chosen.map(|at| choices[at].value.as_str().into()))
            }
            Kind::Several {
                choices,
                fewest,
                most,
            } => self.choose_several(choices, *fewest, *most),
            Kind::Text { .. } | Kind::Number { .. } => self.type_in(),
        }
    }

    fn choose(&self, mut titles: Vec<String>) -> InquireResult<Option<usize>> {
        let offered = titles.len();
        if !self.required {
            titles.push(LEFT_OUT.to_owned());
        }
        let default = match &self.kind {
            Kind::One(choices) => choices
                .iter()
                .position(|choice| self.default == *choice.value),
            _ => None,
        };
        let chosen = Select::new(&self.label, titles)
            .with_help_message(&self.help)
            .with_starting_cursor(default.unwrap_or(0))
            .raw_prompt()?;
        Ok((chosen.index < offered).then_some(chosen.index))
    }

    fn choose_several(
        &self,
        choices: &[Choice],
        fewest: u64,
        most: u64,
    ) -> InquireResult<Option<Value>> {
        let is_default = |choice: &Choice| match &self.default {
            Value::Array(values) => values.iter().any(|value| *value == *choice.value),
            _ => false,
        };
        let defaults: Vec<usize> = (0..choices.len())
            .filter(|at| is_default(&choices[*at]))
            .collect();
        let required = self.required;
        let check = move |chosen: &[ListOption<&Choice>]| {
            let count = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
            let problem = if count == 0 && !required {
                None
            } else if count < fewest {
                Some(format!("at least {fewest}"))
            } else {
                (count > most).then(|| format!("at most {most}"))
            };
            Ok(checked(problem))
        };
        let chosen = MultiSelect::new(&self.label, choices.to_vec())
            .with_help_message(&self.help)
            .with_default(&defaults)
            .with_validator(check)
            .prompt()?;
        if chosen.is_empty() && !self.required {
            return Ok(None);
        }
        let values: Vec<Value> = chosen
            .into_iter()
            .map(|choice| choice.value.into())
            .collect();
        Ok(Some(values.into()))
    }

    fn type_in(&self) -> InquireResult<Option<Value>> {
        let field = self.clone();
        let default = match &self.default {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let check = move |text: &str| Ok(checked(field.typed(text).err()));
        let text = Text::new(&self.label)
            .with_help_message(&self.help)
            .with_initial_value(&default)
            .with_validator(check)
            .prompt()?;
        // It was checked before it was taken.
        Ok(self.typed(&text).unwrap_or_default())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

fn checked(problem: Option<String>) -> Validation {
    match problem {
        Some(problem) => Validation::Invalid(problem.into()),
        None => Validation::Valid,
    }
}
