//! What a tool can fail with, and how a failure reaches the client.

use std::{borrow::Cow, error::Error, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool returns: its value, or an error for the model or the client.
///
/// ```
/// use siding::prelude::*;
///
/// fn half(n: u32) -> Result<u32> {
///     if n % 2 == 1 {
///         return Err(ToolError::new(format!("{n} is odd")));
///     }
///     Ok(n / 2)
/// }
/// # assert!(half(3).is_err());
/// ```
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

/// Ends an `async` block in a [`Result`] without naming its type.
///
/// A block that is not written inside the call of `ctx.step` has no error type that `?` could
/// convert to; ending it in `siding::Ok(..)` settles it.
///
/// ```
/// # async fn read() -> Result<u32, std::io::Error> { Ok(1) }
/// let work = async {
///     let n = read().await?;
///     siding::Ok(n + 1)
/// };
/// # let _ = work;
/// ```
#[expect(non_snake_case, reason = "it stands where the variant `Ok` would")]
pub const fn Ok<T>(value: T) -> Result<T> {
    Result::Ok(value)
}

/// The error of a tool.
///
/// It is made by [`ToolError::new`] from a text that the model should read, or by `?` from any
/// `std::error::Error`, `Box<dyn Error + Send + Sync>`, `String` or `&str`. Such an error is an
/// ordinary result with `isError` on the wire, and a task that ends in it is `completed`
/// (SEP-2663). [`ToolError::protocol`] is a JSON-RPC error, and a task that ends in it `failed`.
///
/// It is deliberately not a `std::error::Error`: that is what lets `?` take every error.
///
/// ```
/// use siding::prelude::*;
///
/// fn port(text: &str) -> Result<u16> {
///     let port: u16 = text.parse()?; // any error of another crate
///     if port < 1024 {
///         return Err(ToolError::new("ports below 1024 are reserved"));
///     }
///     Ok(port)
/// }
/// assert_eq!(port("80").unwrap_err().to_string(), "ports below 1024 are reserved");
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct ToolError {
    cause: Cause,
    message: String,
    /// The error that `?` converted, until it is written down.
    #[serde(skip)]
    foreign: Option<Arc<dyn Error + Send + Sync>>,
}

/// Why a tool failed, as far as the runtime or the author may want to tell it apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cause {
    /// A text by the author, meant for the model.
    Message,
    /// An error of other code that `?` converted.
    Foreign,
    /// A JSON-RPC error.
    Protocol { code: i32, data: Option<Value> },
    /// The person declined to answer.
    Declined,
    /// The person closed the question without answering.
    Dismissed,
    /// Nobody answered in time.
    TimedOut,
    /// This client cannot be asked.
    CannotAsk,
    /// The execution is over, and only cleans up.
    Cancelled,
    /// A step may have happened, and must not happen again.
    Unknown,
}

impl ToolError {
    /// An error whose text is shown to the model, as a result with `isError`.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_cause(Cause::Message, message)
    }

    /// A JSON-RPC error: the call fails as such, and a task ends `failed` with exactly this
    /// `error`. Use a code outside -32768..=-32000, which the protocol keeps for itself.
    ///
    /// ```
    /// use siding::ToolError;
    ///
    /// let error = ToolError::protocol(4001, "the ledger is closed", None);
    /// assert_eq!(error.to_string(), "the ledger is closed");
    /// ```
    pub fn protocol(code: i32, message: impl Into<String>, data: Option<Value>) -> Self {
        Self::with_cause(Cause::Protocol { code, data }, message)
    }

    /// Whether the person said no to a question.
    pub fn is_declined(&self) -> bool {
        self.cause == Cause::Declined
    }

    /// Whether the person closed a question without saying yes or no.
    pub fn is_dismissed(&self) -> bool {
        self.cause == Cause::Dismissed
    }

    /// Whether nobody answered a question before its `.timeout(..)`.
    pub fn is_timed_out(&self) -> bool {
        self.cause == Cause::TimedOut
    }

    /// Whether the task was cancelled, or its time is over, and this is its closing leg: only
    /// `ctx.cleanup` still does something. Or the client left before its call could become a task.
    pub fn is_cancelled(&self) -> bool {
        self.cause == Cause::Cancelled
    }

    /// Whether a step with `.at_most_once()` began in an earlier leg that did not see its end.
    pub fn is_unknown(&self) -> bool {
        self.cause == Cause::Unknown
    }

    /// Whether the client cannot be asked this question, so that nobody saw it.
    pub fn is_cannot_ask(&self) -> bool {
        self.cause == Cause::CannotAsk
    }

    pub(crate) fn declined(key: &str) -> Self {
        Self::with_cause(
            Cause::Declined,
            format!("the question `{key}` was declined"),
        )
    }

    pub(crate) fn dismissed(key: &str) -> Self {
        Self::with_cause(
            Cause::Dismissed,
            format!("the question `{key}` was closed without an answer"),
        )
    }

    pub(crate) fn timed_out(key: &str) -> Self {
        Self::with_cause(
            Cause::TimedOut,
            format!("nobody answered the question `{key}` in time"),
        )
    }

    pub(crate) fn cancelled() -> Self {
        Self::with_cause(Cause::Cancelled, "the task was cancelled")
    }

    pub(crate) fn unknown(key: &str) -> Self {
        Self::with_cause(
            Cause::Unknown,
            format!("the step `{key}` began, and nobody knows how it ended"),
        )
    }

    pub(crate) fn cannot_ask(why: impl Into<String>) -> Self {
        Self::with_cause(Cause::CannotAsk, why)
    }

    /// The JSON-RPC error that this is, or the text for the model.
    pub(crate) fn into_wire(self) -> std::result::Result<String, ProtocolError> {
        match self.cause {
            Cause::Protocol { code, data } => Err(ProtocolError {
                code,
                message: self.message.into(),
                data,
            }),
            _ => Result::Ok(self.message),
        }
    }

    /// Whether its text is that of other code.
    pub(crate) fn is_foreign(&self) -> bool {
        self.cause == Cause::Foreign
    }

    /// The error of other code that it was made of, where it has not been written down since.
    pub(crate) fn foreign(&self) -> Option<&(dyn Error + 'static)> {
        let error: &(dyn Error + 'static) = self.foreign.as_deref()?;
        Some(error)
    }

    fn with_cause(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            foreign: None,
        }
    }
}

/// Two errors are the same if they tell the same.
impl PartialEq for ToolError {
    fn eq(&self, other: &Self) -> bool {
        self.cause == other.cause && self.message == other.message
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("cause", &self.cause)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error: Box<dyn Error + Send + Sync> = error.into();
        Self {
            cause: Cause::Foreign,
            message: chain(error.as_ref()),
            foreign: Some(error.into()),
        }
    }
}

/// Lets `?` leave a function of `anyhow` with the errors of operations.
#[cfg(feature = "anyhow")]
impl From<ToolError> for anyhow::Error {
    fn from(error: ToolError) -> Self {
        Self::msg(error)
    }
}

/// The text of an error and of everything that caused it, each named once.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let cause = source.to_string();
        // Many errors already end in the text of their source.
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        next = source.source();
    }
    text
}

/// A JSON-RPC error, as a failed task keeps it and as a client receives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProtocolError {
    /// The code of the error.
    pub code: i32,
    /// A sentence for the person who reads it.
    pub message: Cow<'static, str>,
    /// What a program may want to know; `reason` in it is stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ProtocolError {
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL: i32 = -32603;
    pub(crate) const OVER_LIMIT: i32 = 429;

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: Self::INVALID_PARAMS,
            message: message.into(),
            data: None,
        }
    }

    pub(crate) fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: Self::INTERNAL,
            message: message.into(),
            data: None,
        }
    }

    /// Somebody did, or wants to do, more than a limit allows.
    pub(crate) fn over_limit(message: impl Into<Cow<'static, str>>) -> Self {
        let error = Self {
            code: Self::OVER_LIMIT,
            message: message.into(),
            data: None,
        };
        error.because("over_limit")
    }

    /// The error, for a tool that may pass it on.
    pub(crate) fn into_tool_error(self) -> ToolError {
        ToolError::protocol(self.code, self.message, self.data)
    }

    /// Whether it tells this reason.
    pub(crate) fn is_because(&self, reason: &str) -> bool {
        let data = self.data.as_ref();
        data.is_some_and(|data| data["reason"] == reason)
    }

    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.data = Some(serde_json::json!({ "reason": reason }));
        self
    }
}

/// An error that a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "not convertible into `siding::ToolError`",
    note = "return `siding::Result<T>`, or implement `From<{Self}> for siding::ToolError`"
)]
pub trait Failure: Into<ToolError> {}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no release")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn question_mark_takes_errors_boxes_and_texts() {
        fn io() -> Result<()> {
            Err(std::io::Error::other("disk full"))?
        }
        fn boxed() -> Result<()> {
            Err(Box::<dyn Error + Send + Sync>::from("boxed"))?
        }
        fn text() -> Result<()> {
            Err("plain")?
        }
        fn owned() -> Result<()> {
            Err(String::from("owned"))?
        }
        let texts = [io(), boxed(), text(), owned()].map(|r| r.unwrap_err().to_string());
        assert_eq!(texts, ["disk full", "boxed", "plain", "owned"]);
    }

    #[test]
    fn sources_are_part_of_the_text() {
        let source = "x".parse::<u8>().unwrap_err();
        let error = ToolError::from(Outer(source));
        assert_eq!(
            error.to_string(),
            "no release: invalid digit found in string"
        );
    }

    #[test]
    fn survives_the_journal() {
        for error in [
            ToolError::new("a"),
            ToolError::from("b"),
            ToolError::protocol(7, "c", Some(serde_json::json!({"d": 1}))),
            ToolError::declined("e"),
        ] {
            let json = serde_json::to_string(&error).unwrap();
            assert_eq!(serde_json::from_str::<ToolError>(&json).unwrap(), error);
        }
    }
}
