//! Whoever answers: a person at the terminal, or a script.

use std::{io::IsTerminal, sync::Arc, thread};

use serde_json::Map;
use siding::client::{Answer, Answers, Question};
use tokio::sync::oneshot;

use crate::{Options, Trouble, output::Output, script::Script, terminal};

/// Whoever answers. Answering may take a thread for as long as it likes.
#[derive(Clone)]
pub(crate) enum Person {
    Script(Arc<Script>),
    Terminal(Output),
}

impl Person {
    /// The terminal, unless there is none or answers were given: nothing that a script starts waits for
    /// a person.
    pub(crate) fn new(options: &Options, output: &Output) -> Result<Self, Trouble> {
        let script = match &options.answers {
            Some(answers) => Script::new(serde_json::from_str(answers)?, false),
            None if std::io::stdin().is_terminal() && !options.json => {
                return Ok(Self::Terminal(output.clone()));
            }
            None => Script::new(Map::new(), options.json),
        };
        Ok(Self::Script(Arc::new(script)))
    }

    fn answer_now(&self, question: &Question) -> Answer {
        match self {
            Self::Script(script) => script.answer(question),
            Self::Terminal(output) => {
                output.pause();
                let answer = terminal::ask(question);
                output.resume();
                answer
            }
        }
    }
}

impl Answers for Person {
    fn urls(&self) -> bool {
        true
    }

    async fn answer(&self, question: &Question) -> Answer {
        let (reply, answer) = oneshot::channel();
        let (person, question) = (self.clone(), question.clone());
        // Not a thread of the runtime, which would not end before the person has answered.
        thread::spawn(move || reply.send(person.answer_now(&question)));
        answer.await.unwrap_or(Answer::Unable)
    }
}
