//! What becomes of a call: the end that an outcome, a fault or a panic is.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::{leg::Fault, limits::Limits};
use crate::{
    error::ProtocolError,
    nesting::{DEEPEST, is_too_deep},
    record::End,
    tool::Outcome,
};

/// The end that the outcome of a function is.
pub(super) fn end(outcome: Outcome, limits: &Limits) -> End {
    let end = match outcome.map_err(crate::ToolError::into_wire) {
        Ok(result) => result_end(&result),
        Err(Ok(text)) => tool_error(text),
        Err(Err(error)) => End::Error(error),
    };
    let too_deep = match &end {
        End::Result(members) => members.values().any(is_too_deep),
        End::Error(error) => error.data.as_ref().is_some_and(is_too_deep),
        End::Cancelled => false,
    };
    if too_deep {
        return End::Error(ProtocolError::over_limit(format!(
            "the result has more than {DEEPEST} lists and objects within each other"
        )));
    }
    match serde_json::to_vec(&end).map(|json| json.len()) {
        Ok(bytes) if bytes <= limits.result_bytes => end,
        Ok(bytes) => End::Error(ProtocolError::over_limit(format!(
            "the result has {bytes} bytes, more than the {} that it may have",
            limits.result_bytes
        ))),
        Err(_) => End::Error(ProtocolError::internal(
            "the result cannot be written as JSON",
        )),
    }
}

/// What `code` of the author's gives, outside of any leg, or the error that its panic is.
pub(super) fn guard<T>(tool: &str, code: impl FnOnce() -> T) -> Result<T, ProtocolError> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|panic| panic_error(tool, panic.as_ref()))
}

/// The end of a call that failed for a reason that the model should read.
pub(super) fn tool_error(text: String) -> End {
    result_end(&CallToolResult::error(vec![ContentBlock::text(text)]))
}

fn result_end(result: &CallToolResult) -> End {
    match serde_json::to_value(result) {
        Ok(Value::Object(members)) => End::Result(members),
        _ => End::Error(ProtocolError::internal(
            "the result cannot be written as JSON",
        )),
    }
}

/// The end of a call whose leg ended with `fault`.
pub(super) fn failed(fault: &Fault) -> End {
    End::Error(match fault {
        Fault::Drift(text) => ProtocolError::internal(text.clone()).because("drift"),
        Fault::Nondeterministic(text) => {
            ProtocolError::internal(text.clone()).because("nondeterministic")
        }
        Fault::OverLimit(text) => ProtocolError::over_limit(text.clone()),
        Fault::Misuse(text) => ProtocolError::internal(text.clone()).because("misuse"),
        Fault::Store(_) => ProtocolError::internal("the task store failed").because("store"),
        Fault::Superseded => ProtocolError::internal("the call was given up"),
    })
}

/// The end of a call whose function panicked.
pub(super) fn panicked(tool: &str, panic: &(dyn Any + Send)) -> End {
    End::Error(panic_error(tool, panic))
}

fn panic_error(tool: &str, panic: &(dyn Any + Send)) -> ProtocolError {
    tracing::error!(tool, panic = text_of(panic), "a tool panicked");
    // What a panic says was written for the author, not for the client.
    ProtocolError::internal(format!("the tool `{tool}` panicked")).because("panic")
}

/// What a panic says.
pub(super) fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
