//! The questions of a task: each is asked once, and again only where its answer was refused.

use std::{collections::HashMap, time::Duration};

use rmcp::{
    model::{ErrorCode, InputRequests, InputResponses, UpdateTaskParams},
    service::ServiceError,
};

use super::{CallError, Question, drive::Drive};
use crate::host::Timestamp;

/// An answer that was taken may become visible late (SEP-2663): after this many polls and this long,
/// whichever comes later, it should have.
const LATE_POLLS: u32 = 5;
const LATE: Duration = Duration::from_secs(5);

/// So often a question is put whose answers do not fit.
pub(super) const TRIES: u32 = 10;

/// What became of the questions of a task, by their keys.
#[derive(Debug, Default)]
pub(super) struct Questions {
    given: HashMap<String, Given>,
    refused: HashMap<String, Refused>,
}

/// Answers that the server refused.
#[derive(Debug, Default)]
struct Refused {
    times: u32,
    /// What was wrong with the last of them.
    violation: String,
}

/// An answer that the server took.
#[derive(Debug)]
struct Given {
    at: Timestamp,
    /// In how many polls since it was still asked for.
    shown: u32,
}

impl Questions {
    /// Leaves those to be asked now.
    fn open(&mut self, asked: InputRequests, now: Timestamp) -> Result<InputRequests, CallError> {
        let mut open = InputRequests::new();
        for (key, request) in asked {
            let Some(given) = self.given.get_mut(&key) else {
                open.insert(key, request);
                continue;
            };
            given.shown += 1;
            if given.shown > LATE_POLLS && now.since(given.at) >= LATE {
                return Err(CallError::StillAsked { key });
            }
        }
        Ok(open)
    }

    fn given(&mut self, key: String, at: Timestamp) {
        self.given.insert(key, Given { at, shown: 0 });
    }
}

impl Drive {
    /// Answers what is asked and was not answered yet, all in one update.
    pub(super) async fn answer(
        &self,
        id: &str,
        asked: InputRequests,
        questions: &mut Questions,
    ) -> Result<(), CallError> {
        let now = self.connection.host.now();
        let open = questions.open(asked, now)?;
        let mut responses = InputResponses::new();
        for question in self.readable(open)? {
            let key = question.key.clone();
            let refused = questions.refused.get(&key);
            if let Some(Refused { violation, .. }) = refused.filter(|it| it.times >= TRIES) {
                let violation = violation.clone();
                return Err(CallError::Unfit { key, violation });
            }
            let question = Question {
                violation: refused.map(|refused| refused.violation.clone()),
                ..question
            };
            responses.insert(key, self.ask(question).await?.into());
        }
        if responses.is_empty() {
            return Ok(());
        }
        let several = responses.len() > 1;
        let refused = self.update(id, responses.clone()).await?;
        if refused.is_some() && several {
            // Which one does not fit is told when each comes alone.
            for (key, response) in responses {
                let alone = InputResponses::from([(key.clone(), response)]);
                let refused = self.update(id, alone).await?;
                self.note(questions, key, refused);
            }
            return Ok(());
        }
        for key in responses.into_keys() {
            self.note(questions, key, refused.clone());
        }
        Ok(())
    }

    fn note(&self, questions: &mut Questions, key: String, refused: Option<String>) {
        match refused {
            Some(violation) => {
                let refused = questions.refused.entry(key).or_default();
                refused.times += 1;
                refused.violation = violation;
            }
            None => questions.given(key, self.connection.host.now()),
        }
    }

    /// Sends answers; gives what is wrong with them where the server refuses them.
    async fn update(
        &self,
        id: &str,
        responses: InputResponses,
    ) -> Result<Option<String>, CallError> {
        let params = UpdateTaskParams::new(id, responses);
        match self.connection.peer.update_task(params).await {
            Ok(()) => Ok(None),
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                Ok(Some(error.message.into_owned()))
            }
            Err(source) => Err(CallError::UpdateFailed {
                id: id.to_owned(),
                source,
            }),
        }
    }
}
