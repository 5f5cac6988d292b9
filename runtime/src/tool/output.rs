//! What a tool returns, and how it becomes a result of the protocol.
//!
//! The macro knows no types, so a probe finds out what the return type is: an inherent method of a
//! probe wins over the method of the trait that every probe has.

use std::{fmt, marker::PhantomData};

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::Serialize;

use super::schema;
use crate::{Result, ToolError, error::Failure};

/// Asks what the return type `R` is.
#[derive(Debug)]
pub struct Probe<R>(PhantomData<fn() -> R>);

/// A return type `R` whose value, once it is there, is a `T`.
pub struct Peeled<R, T> {
    split: fn(R) -> Result<T>,
}

/// How a return value `R` around a `T` is told to the client.
pub struct Output<R, T> {
    split: fn(R) -> Result<T>,
    encode: fn(T) -> Result<CallToolResult>,
    schema: Option<fn() -> Option<JsonObject>>,
}

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not writable as JSON, or without a schema",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it, or return a `String`"
)]
pub trait Returned: Serialize + JsonSchema + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + 'static> Returned for T {}

impl<R> Default for Probe<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> Probe<R> {
    /// A probe for `R`.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T, E> Probe<Result<T, E>> {
    /// The value is what `Ok` holds.
    pub const fn peel(self) -> Peeled<Result<T, E>, T>
    where
        E: Failure,
    {
        Peeled {
            split: |returned| returned.map_err(Into::into),
        }
    }
}

/// For every other return type.
pub trait PeelPlain {
    /// The return type.
    type Returned;

    /// The value is what is returned.
    fn peel(self) -> Peeled<Self::Returned, Self::Returned>;
}

impl<R> PeelPlain for Probe<R> {
    type Returned = R;

    fn peel(self) -> Peeled<R, R> {
        Peeled { split: Ok }
    }
}

impl<R, T> Peeled<R, T> {
    const fn encoded_by(self, encode: fn(T) -> Result<CallToolResult>) -> Output<R, T> {
        Output {
            split: self.split,
            encode,
            schema: None,
        }
    }
}

impl<R> Peeled<R, ()> {
    /// Nothing to tell.
    pub const fn output(self) -> Output<R, ()> {
        self.encoded_by(|()| Ok(CallToolResult::success(Vec::new())))
    }
}

impl<R> Peeled<R, String> {
    /// A text.
    pub const fn output(self) -> Output<R, String> {
        self.encoded_by(|text| Ok(CallToolResult::success(vec![ContentBlock::text(text)])))
    }
}

impl<R> Peeled<R, &'static str> {
    /// A text.
    pub const fn output(self) -> Output<R, &'static str> {
        self.encoded_by(|text| Ok(CallToolResult::success(vec![ContentBlock::text(text)])))
    }
}

impl<R> Peeled<R, ContentBlock> {
    /// Content, as it is.
    pub const fn output(self) -> Output<R, ContentBlock> {
        self.encoded_by(|content| Ok(CallToolResult::success(vec![content])))
    }
}

impl<R> Peeled<R, Vec<ContentBlock>> {
    /// Content, as it is.
    pub const fn output(self) -> Output<R, Vec<ContentBlock>> {
        self.encoded_by(|content| Ok(CallToolResult::success(content)))
    }
}

impl<R> Peeled<R, CallToolResult> {
    /// A result, as it is; but only a result.
    pub const fn output(self) -> Output<R, CallToolResult> {
        self.encoded_by(|result| match &result.result_type {
            Some(kind) if !kind.is_complete() => Err(ToolError::protocol(
                crate::error::ProtocolError::INTERNAL,
                format!("the tool returned a `{}` as its result", kind.as_str()),
                None,
            )),
            _ => Ok(result),
        })
    }
}

/// For every other type: structured content.
pub trait EncodePlain {
    /// The return type.
    type Returned;
    /// The value in it.
    type Value;

    /// Structured content, with its schema.
    fn output(self) -> Output<Self::Returned, Self::Value>
    where
        Self::Value: Returned;
}

impl<R, T> EncodePlain for Peeled<R, T> {
    type Returned = R;
    type Value = T;

    fn output(self) -> Output<R, T>
    where
        T: Returned,
    {
        Output {
            split: self.split,
            encode: |value| {
                let value = serde_json::to_value(value).map_err(|error| {
                    ToolError::new(format!("the result cannot be written as JSON: {error}"))
                })?;
                // The JSON stands in a text block too, for clients that read only these.
                Ok(CallToolResult::structured(value))
            },
            schema: Some(schema::written::<T>),
        }
    }
}

impl<R, T> Output<R, T> {
    /// The schema of the structured content, where there is some and it may not be anything.
    pub(super) fn schema(&self) -> Option<JsonObject> {
        self.schema.and_then(|schema| schema())
    }

    /// The result of a call that returned `returned`.
    ///
    /// # Errors
    ///
    /// Where the tool failed, or its value cannot be told.
    pub fn finish(&self, returned: R) -> Result<CallToolResult> {
        (self.split)(returned).and_then(self.encode)
    }
}

impl<R, T> fmt::Debug for Peeled<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peeled").finish_non_exhaustive()
    }
}

impl<R, T> fmt::Debug for Output<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}
