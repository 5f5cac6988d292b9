//! Waiting for an answer, whatever its type.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    Answers, Form, Input,
    form::{Answer, Ask},
    live,
    question::Named,
};
use crate::{
    Result, ToolError,
    engine::leg::{Entered, Fault, Leg, Mark, Operation, Waiting},
    host::BoxFuture,
    journal::{Entry, Kind},
};

/// What came back: the values of the form, or that there are none.
pub(super) type Given = Result<Map<String, Value>>;

/// Reads a `T`, or tells what is wrong with the form that was given.
pub(super) fn read<T: Input>(given: Given) -> Result<Result<T>, String> {
    match given {
        Ok(content) => match T::read(&mut Answers::new(content)) {
            Ok(value) => Ok(Ok(value)),
            Err(error) => Err(error.to_string()),
        },
        Err(error) => Ok(Err(error)),
    }
}

/// Waiting for the answer to one question.
///
/// Unless the client is asked while it waits, it is never woken: a leg whose only hope is an answer
/// parks, and the answer starts a new leg.
pub(super) struct Wait {
    leg: Arc<Leg>,
    ask: Ask,
    /// The names that the question had before.
    former: Vec<String>,
    /// Why nobody can answer it.
    refusal: Option<&'static str>,
    timeout: Option<Duration>,
    stage: Stage,
    /// The key on the wire, once the question was reached.
    key: String,
}

enum Stage {
    New,
    /// The client is asked while it waits.
    Live(BoxFuture<'static, Result<Answer>>),
    Marked {
        _mark: Mark,
    },
    Done,
}

impl Wait {
    pub(super) fn new(leg: Arc<Leg>, ask: Ask) -> Self {
        Self {
            leg,
            ask,
            former: Vec::new(),
            refusal: None,
            timeout: None,
            stage: Stage::New,
            key: String::new(),
        }
    }

    pub(super) fn was(&mut self, former: String) {
        self.former.push(former);
    }

    pub(super) fn refuse(&mut self, why: &'static str) {
        self.refusal = Some(why);
    }

    pub(super) fn give_up_after(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    pub(super) fn worded(&mut self, template: Option<u64>) {
        self.ask.template = template;
    }

    pub(super) fn text_may_differ(&mut self) {
        self.ask.text_may_differ = true;
    }

    pub(super) fn form(&mut self) -> &mut Form {
        &mut self.ask.form
    }

    /// The answer, where it is in the journal; otherwise the leg is marked as waiting for it.
    pub(super) fn advance(&mut self, name: &Named, cx: &mut Context<'_>) -> Poll<Result<Answer>> {
        if let Stage::New = self.stage {
            self.stage = Stage::Done;
            if let Poll::Ready(answer) = self.reach(name) {
                return Poll::Ready(answer);
            }
        }
        let Stage::Live(answer) = &mut self.stage else {
            return Poll::Pending;
        };
        let polled = answer.as_mut().poll(cx);
        if polled.is_ready() {
            self.stage = Stage::Done;
        }
        match polled {
            // A client that is gone refuses at once, and will for ever.
            Poll::Ready(Err(error)) if error.is_cannot_ask() => self.refused(error),
            polled => polled,
        }
    }

    /// Whether the client is asked right now, so that no other question is put to it.
    pub(super) const fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live(_))
    }

    fn reach(&mut self, name: &Named) -> Poll<Result<Answer>> {
        let Named { key, location } = name;
        let entered = self.leg.enter(Operation {
            kind: Kind::Asked,
            name: key,
            was: &self.former,
            place: *location,
        });
        match entered {
            Entered::Stopped => Poll::Pending,
            Entered::Closed(error) => Poll::Ready(Err(error)),
            Entered::Live(key) => {
                self.key = key;
                self.put()
            }
            Entered::Replayed(entry) => {
                self.key = entry.key().into();
                let fault = match entry.tells::<Ask>() {
                    // A text that comes from a variable may have come from anywhere.
                    Ok(asked)
                        if self.ask.template.is_some()
                            && self.ask.is_filled_in_otherwise(&asked) =>
                    {
                        let texts = [&asked.message, &self.ask.message].map(String::as_str);
                        Fault::text_changed(&self.key, texts, *location)
                    }
                    Ok(asked) if asked.same_shape(&self.ask) => return self.replay(),
                    _ => Fault::form_changed(&self.key, *location),
                };
                self.stop(fault)
            }
        }
    }

    /// Puts a question that was not put before.
    fn put(&mut self) -> Poll<Result<Answer>> {
        if let Err(fault) = self.leg.may_wait(&self.key) {
            return self.stop(fault);
        }
        if let Some(why) = self.refusal {
            let text = format!("the question `{}` {why}", self.key);
            return self.refused(ToolError::new(text));
        }
        if let Err(why) = self.leg.can_ask(&self.ask) {
            return self.refused(ToolError::cannot_ask(why));
        }
        if let Some(link) = self.leg.link() {
            let (leg, link, key) = (self.leg.clone(), link.clone(), self.key.clone());
            let answer = live::ask(leg, link, key, self.ask.clone(), self.timeout);
            self.stage = Stage::Live(Box::pin(answer));
            return Poll::Pending;
        }
        self.wait(Some(self.ask.clone()))
    }

    fn refused<T>(&self, error: ToolError) -> Poll<Result<T>> {
        match self.leg.refuse(&self.key, &self.ask, &error) {
            Ok(()) => Poll::Ready(Err(error)),
            Err(fault) => self.stop(fault),
        }
    }

    /// What came back for a question that was put in an earlier leg.
    fn replay(&mut self) -> Poll<Result<Answer>> {
        match self.leg.answer(&self.key) {
            None if self.leg.is_closing() => Poll::Ready(Err(ToolError::cancelled())),
            None => self.wait(None),
            Some(entry) if entry.kind() == Kind::TimedOut => {
                Poll::Ready(Err(ToolError::timed_out(&self.key)))
            }
            Some(entry) if entry.kind() == Kind::Refused => self.told(&entry).map(Err),
            Some(entry) => self.told(&entry).map(Ok),
        }
    }

    fn told<T: DeserializeOwned>(&self, entry: &Entry) -> Poll<T> {
        let told = self.leg.read(entry, entry.tells());
        told.map_or(Poll::Pending, Poll::Ready)
    }

    /// The value of an answer, or `None` where the leg had to stop because it fits no more.
    pub(super) fn value<T>(
        &self,
        answer: Answer,
        read: impl FnOnce(Given) -> Result<Result<T>, String>,
    ) -> Option<Result<T>> {
        let given = match answer {
            Answer::Accepted(content) => Ok(content),
            Answer::Declined => Err(ToolError::declined(&self.key)),
            Answer::Dismissed => Err(ToolError::dismissed(&self.key)),
        };
        let value = read(given).map_err(|error| {
            let fault = Fault::unreadable(Kind::Answered, &self.key, &error);
            self.leg.stop(fault);
        });
        value.ok()
    }

    fn wait(&mut self, ask: Option<Ask>) -> Poll<Result<Answer>> {
        let end = |timeout| self.leg.host.now().after(timeout);
        let mark = self.leg.mark(Waiting::Answer {
            key: self.key.clone(),
            // A question that was put before has its end already.
            deadline: self.timeout.filter(|_| ask.is_some()).map(end),
            ask,
        });
        self.stage = Stage::Marked { _mark: mark };
        Poll::Pending
    }

    fn stop<T>(&self, fault: Fault) -> Poll<T> {
        self.leg.stop(fault);
        Poll::Pending
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("ask", &self.ask)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
