//! What expansions of the macros call. No part of it is for people, and none of it is stable.

pub use serde_json::Value;

pub use crate::{
    ctx::{Context, ContextIn, InPart, Part, context, context_in, part, step_block, step_result},
    input::{
        Answers, FieldKind, FieldValue, Filled, FilledPlain, Form, Point, choice_json, choice_kind,
        fill_plain, form_of, no_such_option, plain, read_choice, read_plain,
    },
    tool::{
        Arg, Call, Definition, EncodePlain, Inputs, Output, PeelPlain, Peeled, Probe, call, default,
    },
};

/// The state that the context `C` gives.
pub type StateOf<C> = <C as Context>::State;

/// Stands where a function was refused by the macro, so that only the refusal is reported.
///
/// # Panics
///
/// Always; but what contains it does not compile.
pub fn refused<T>() -> T {
    unreachable!("this function was refused when it was compiled")
}
