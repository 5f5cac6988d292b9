//! Who answers what a server asks.

use std::future::Future;

use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
};
use serde_json::{Value, json};

use super::CallError;
use crate::host::BoxFuture;

/// Answers what servers ask while they work on a call: a person at a terminal, a policy, a script.
///
/// Whichever way the question comes - from a task, in a round trip of the call, or live from an older
/// server - it is put here. A server is told of each kind whether it can be answered.
///
/// A function from [`Question`] to [`Answer`] answers forms:
///
/// ```
/// use serde_json::json;
/// use siding::client::{Answer, Client, Question};
///
/// let yes = |_: Question| async { Answer::Accept(json!({ "approve": true })) };
/// let builder = Client::builder("robot", "1.0.0").answers(yes);
/// # let _ = builder;
/// ```
///
/// A type can answer both kinds:
///
/// ```
/// use siding::client::{Answer, Answers, Ask, Question};
///
/// struct Cautious;
///
/// impl Answers for Cautious {
///     fn urls(&self) -> bool {
///         true
///     }
///
///     async fn answer(&self, question: &Question) -> Answer {
///         match &question.ask {
///             Ask::Url(url) if url.starts_with("https://login.example/") => {
///                 Answer::Accept(serde_json::Value::Null)
///             }
///             _ => Answer::Decline,
///         }
///     }
/// }
/// ```
pub trait Answers: Send + Sync + 'static {
    /// Whether forms can be answered; they can unless this says otherwise.
    fn forms(&self) -> bool {
        true
    }

    /// Whether addresses can be opened; they cannot unless this says otherwise.
    fn urls(&self) -> bool {
        false
    }

    /// Answers one question. It is dropped where the call is given up, or the task expires.
    fn answer(&self, question: &Question) -> impl Future<Output = Answer> + Send;
}

impl<F, Answering> Answers for F
where
    F: Fn(Question) -> Answering + Send + Sync + 'static,
    Answering: Future<Output = Answer> + Send,
{
    fn answer(&self, question: &Question) -> impl Future<Output = Answer> + Send {
        self(question.clone())
    }
}

/// What a server asks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The name that the server gave it, unique in its task; of a live question the id of the request.
    pub key: String,
    /// What the person reads.
    pub message: String,
    /// What is wanted.
    pub ask: Ask,
    /// Why the server refused the answer that was given before.
    pub violation: Option<String>,
}

/// What is wanted as an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ask {
    /// A form with these fields.
    Form(ElicitationSchema),
    /// That the person opens this address.
    Url(String),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// Yes: an object with the fields of the form, `Value::Null` for an address.
    Accept(Value),
    /// No.
    Decline,
    /// Neither: the person closed the question.
    Dismiss,
    /// This cannot be answered here; the call ends with [`CallError::CannotAnswer`].
    Unable,
}

/// Answers nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nobody;

/// [`Answers`] of any type.
pub(super) trait Respondent: Send + Sync {
    fn answers_forms(&self) -> bool;
    fn answers_urls(&self) -> bool;
    fn respond<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

impl Question {
    /// The question in a request that came with a task or a round trip.
    pub(super) fn read(key: String, request: InputRequest) -> Result<Self, CallError> {
        let kind = match request {
            InputRequest::Elicitation(request) => return Self::elicited(key, request.params),
            InputRequest::CreateMessage(_) => "sampling/createMessage",
            InputRequest::ListRoots(_) => "roots/list",
            _ => "a request that this client does not know",
        };
        let kind = kind.to_owned();
        Err(CallError::CannotAnswer { key, kind })
    }

    /// The question in the parameters of `elicitation/create`.
    pub(super) fn elicited(key: String, params: ElicitRequestParams) -> Result<Self, CallError> {
        let (message, ask) = match params {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => (message, Ask::Form(requested_schema)),
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                (message, Ask::Url(url))
            }
            _ => {
                let kind = "a mode of elicitation that this client does not know".to_owned();
                return Err(CallError::CannotAnswer { key, kind });
            }
        };
        Ok(Self {
            key,
            message,
            ask,
            violation: None,
        })
    }

    /// Why there is nobody to answer it.
    pub(super) fn unanswerable(&self) -> CallError {
        let kind = match self.ask {
            Ask::Form(_) => "form",
            Ask::Url(_) => "url",
        };
        CallError::CannotAnswer {
            key: self.key.clone(),
            kind: kind.to_owned(),
        }
    }

    /// The question, if it can be put to `respondent`.
    pub(super) fn put_to(self, respondent: &dyn Respondent) -> Result<Self, CallError> {
        let answers = match self.ask {
            Ask::Form(_) => respondent.answers_forms(),
            Ask::Url(_) => respondent.answers_urls(),
        };
        if answers {
            Ok(self)
        } else {
            Err(self.unanswerable())
        }
    }
}

/// An answer as the protocol has it.
#[derive(Debug)]
pub(super) struct Response {
    action: ElicitationAction,
    content: Option<Value>,
}

impl Response {
    /// The response that carries `answer`; none where there is no answer.
    pub(super) fn of(answer: Answer) -> Option<Self> {
        let (action, content) = match answer {
            Answer::Accept(Value::Null) => (ElicitationAction::Accept, None),
            Answer::Accept(content) => (ElicitationAction::Accept, Some(content)),
            Answer::Decline => (ElicitationAction::Decline, None),
            Answer::Dismiss => (ElicitationAction::Cancel, None),
            Answer::Unable => return None,
        };
        Some(Self { action, content })
    }
}

impl From<Response> for ElicitResult {
    fn from(response: Response) -> Self {
        let result = Self::new(response.action);
        match response.content {
            Some(content) => result.with_content(content),
            None => result,
        }
    }
}

impl From<Response> for Value {
    fn from(response: Response) -> Self {
        let mut value = json!({ "action": response.action });
        if let Some(content) = response.content {
            value["content"] = content;
        }
        value
    }
}

impl<A: Answers> Respondent for A {
    fn answers_forms(&self) -> bool {
        self.forms()
    }

    fn answers_urls(&self) -> bool {
        self.urls()
    }

    fn respond<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(self.answer(question))
    }
}

impl Answers for Nobody {
    fn forms(&self) -> bool {
        false
    }

    async fn answer(&self, _: &Question) -> Answer {
        Answer::Unable
    }
}
