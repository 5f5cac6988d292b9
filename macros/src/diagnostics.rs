//! What the macros refuse: the accumulator, and every message they can give.
//!
//! A message says what is wrong, with the author's own words in backticks, and after a semicolon
//! what to write instead. Its id is the name of its case in `ui-tests/fail`.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Collects the mistakes of one item, so that all of them are reported in one go.
#[derive(Default)]
#[must_use = "mistakes that are not reported are lost"]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Records a mistake in the author's tokens.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: String) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records what syn could not parse.
    pub(crate) fn push_syntax(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// `Err` with one `compile_error!` per mistake, if there was any.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        if self.is_empty() {
            return Ok(());
        }
        Err(self
            .found
            .into_iter()
            .map(syn::Error::into_compile_error)
            .collect())
    }
}

/// What can be warned of. Its id is the name in `allow(..)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warning {
    Await,
    Impure,
    Guard,
    Stream,
    Unordered,
}

impl Warning {
    pub(crate) const ALL: [Self; 5] = [
        Self::Await,
        Self::Impure,
        Self::Guard,
        Self::Stream,
        Self::Unordered,
    ];

    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Await => "await_outside_step",
            Self::Impure => "impure_call",
            Self::Guard => "guard_across_park",
            Self::Stream => "stream_of_borrows",
            Self::Unordered => "unordered_loop",
        }
    }
}

/// A warning about the author's tokens.
pub(crate) struct Warned {
    pub(crate) warning: Warning,
    pub(crate) message: String,
    pub(crate) span: Span,
}

/// Renders `; did you mean ..?`, or all `choices` where none is near.
pub(crate) fn suggestion(word: &str, choices: &[&str]) -> String {
    let near = choices
        .iter()
        .map(|choice| (strsim::normalized_damerau_levenshtein(word, choice), choice))
        .filter(|(similarity, _)| *similarity > 0.5)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match near {
        Some((_, choice)) => format!("did you mean `{choice}`?"),
        None => format!("known are `{}`", choices.join("`, `")),
    }
}

/// Writes one function per message, and the list of all of them for the test of the ui cases.
macro_rules! messages {
    ($($id:ident($($word:ident),*) = $text:literal;)*) => {
        $(pub(crate) fn $id($($word: impl Display),*) -> String {
            format!($text)
        })*

        /// Each id with its text.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str)] = &[$((stringify!($id), $text)),*];
    };
}

// Options.
messages! {
    unknown_option(option, suggestion) = "unknown option `{option}`; {suggestion}";
    repeated_option(option) = "`{option}` is given twice; keep one of them";
    option_value(option, wanted, example) = "`{option}` takes {wanted}; write `{example}`";
    unknown_warning(name, suggestion) = "there is no warning `{name}`; {suggestion}";
    unknown_mode(mode, suggestion) = "unknown task mode `{mode}`; {suggestion}";
    option_without_task(option) =
        "`{option}` is about tasks, and this tool is never one; add `task = \"optional\"` or `task = \"required\"`, or remove `{option}`";
    bad_duration(text) =
        "`{text}` is not a duration; write numbers with units, such as `\"500ms\"`, `\"90s\"` or `\"1h 30m\"`";
    zero_duration(option) =
        "`{option}` is less than a millisecond; write a longer duration, such as `{option} = \"2s\"`";
    poll_above_ttl(poll, ttl) =
        "clients would first look after {poll}, but the task is gone after {ttl}; write a `poll` below the `ttl`";
    unknown_detach(text) =
        "`{text}` does not say when the call becomes a task; write `\"always\"`, `\"manual\"` or `\"after 500ms\"`";
    bad_tool_name(name) =
        "`{name}` cannot be the name of a tool; use 1 to 128 of the characters `A-Z a-z 0-9 _ . -`";
    contradictory_hints() =
        "a tool that is `read_only` changes nothing, so it cannot be `destructive`; remove one of the two";
    relative_crate_path(path) =
        "`{path}` would be looked up in each module anew; write an absolute path, such as `crate = ::{path}` or `crate = crate::{path}`";

    // The function.
    not_a_function() = "`#[mcp_tool]` makes a tool of a free `async fn`; put it above one";
    not_async(name) =
        "a tool is an `async fn`; write `async fn {name}`, also where nothing is awaited";
    qualified_function(qualifier) =
        "a tool is called with arguments that a client sent, so it cannot be `{qualifier}`; remove `{qualifier}`";
    generic_tool(parameter) =
        "a tool has one schema, so it cannot be generic over `{parameter}`; write the concrete type";
    method_outside_tools(name) =
        "`{name}` is a method, and its state comes from the whole block; write `#[mcp_tools]` above the `impl`";
    method_receiver(name) =
        "all calls share the state, so a tool cannot change it through `self`; write `&self` in `{name}`, and put what changes behind a lock";
    tools_not_an_impl() =
        "`#[mcp_tools]` makes tools of the methods of a type; put it above the type's own `impl` block";
    tools_generic(name) =
        "each tool has one schema, so the `impl` block cannot be generic over `{name}`; write the concrete type";
    tools_without_tool() =
        "no method of this block is a tool; put `#[mcp_tool]` above each that is one";
    part_not_a_function() = "`#[mcp_part]` makes a part of an `async fn`; put it above one";
    part_not_async(name) = "a part waits for answers, so it is an `async fn`; write `async fn {name}`";
    part_without_context(name) =
        "a part asks by the context of the tool that calls it; add `ctx: &mut Ctx` to the parameters of `{name}`";
    impl_trait_return() =
        "a tool declares what it returns, so the type must have a name; write the concrete type instead of `impl ..`";

    // Parameters.
    parameter_pattern() =
        "clients pass an argument by its name, so a parameter is one name; write `name: Type` and take it apart in the body";
    conditional_parameter(attribute) =
        "clients see one schema, so a parameter cannot depend on `{attribute}`; put it on the function, and write one function for each case";
    doc_of_macro() =
        "this text is not known when the attribute reads it, so clients would not see it; write it out here, or in `description = \"..\"`";
    bad_pattern(pattern, why) =
        "`{pattern}` is not a regular expression ({why}); write one that is, without look-around and back-references";
    impl_trait_parameter() =
        "an argument is decoded into one type; write the concrete type instead of `impl ..`";
    named_lifetime(lifetime) =
        "arguments live as long as the call, so a parameter cannot borrow for `{lifetime}`; leave the lifetime out";
    two_contexts(name) =
        "a tool has one context, which is the one `&mut` parameter; take `{name}` by value or by `&`";
    context_missing(call) =
        "`ctx` is not a parameter of this function, and `{call}` needs it; add `ctx: &mut Ctx` to the parameters";
    context_not_mutable() =
        "every operation changes the context, so a tool takes it by `&mut`; write `ctx: &mut Ctx`";
    manual_without_context() =
        "with `detach = \"manual\"` the body says when the call becomes a task; add `ctx: &mut Ctx` to the parameters and call `ctx.detach().await?`";
    repeated_argument(name) =
        "two parameters would be passed as `{name}`; give one of them another name, or `#[arg(rename = \"..\")]`";

    // Operations in the body.
    operation_without_task(call) =
        "`{call}` waits, and this tool is never a task that could wait; write `#[mcp_tool(task = \"optional\")]` or `task = \"required\"`";
    detach_without_manual() =
        "this call becomes a task by itself, so there is nothing for `ctx.detach` to do; write `detach = \"manual\"`, or remove the call";
    nested_operation(call, place, remedy) = "`{call}` cannot be inside {place}; {remedy}";
    concurrent_operation(call, name) =
        "`{call}` cannot be one of several futures in `{name}`, for operations keep the order of the code; await it before, and use what it gave";
    question_in_timeout(call) =
        "`timeout(..)` counts within one run of the body, and `{call}` waits across many; write `.timeout(..)` after the call instead";
    step_in_timeout(call) =
        "a timeout around `{call}` could end it before its outcome is kept; put the timeout inside: `{call}(\"name\", timeout(..))`";
    context_in_timeout(context) =
        "`timeout(..)` counts within one run of the body, and what is given `{context}` may wait across many; write `.timeout(..)` after the question in it, or give it only `{context}.handle()`";
    context_in_join(context, name) =
        "what is given `{context}` cannot be one of several futures in `{name}`, for operations keep the order of the code; await it before and use what it gave, or give it only `{context}.handle()`";
    context_in_spawn(context, spawn) =
        "`{context}` cannot go into what `{spawn}` runs beside the body, for operations keep the order of the code; await it before and use what it gave, or give it only `{context}.handle()`";
    operation_in_macro(call, name) =
        "`{call}` cannot be seen inside `{name}!`; put it in a `let` before the macro and use the variable";
    operation_not_awaited(call) =
        "`{call}` is not awaited where it is written, so its place in the order is open; write `.await` after it";
    unnamed_question(call) =
        "this question has no name to keep its answer under; bind it with `let name = {call}(..).await?`, or add `.key(\"name\")`";
    unnamed_questions() =
        "each of these questions needs a name to keep its answer under; bind them with `let (first, second) = ctx.input_all(..).await?`";
    repeated_question(key) =
        "another question of this function is named `{key}` too, and would take its answer; rename the binding, or add `.key(\"..\")`";
    repeated_step(key) =
        "another step of this function is named `{key}` too, and would take its outcome; give each step its own name";
    bad_key(key) =
        "`{key}` cannot name an operation, for `#` and `/` are put there by siding; write a name without them that is not empty";

    // What a step is given.
    spawned_step(name) =
        "`{name}` starts its work each time the body runs again, for only the future of a step is skipped; call it inside: `async {{ {name}(..).await }}`";
    borrow_in_step(name) =
        "a step is skipped when the body runs again, and then nothing is written to `{name}`; return the value from the step: `let {name} = ctx.step(..).await?`";
    assignment_in_step(name) =
        "a step is skipped when the body runs again, and then nothing is assigned to `{name}`; return the value from the step: `{name} = ctx.step(..).await?`";

    // Warnings.
    await_outside_step() =
        "it runs again each time the call resumes; put what is awaited into `ctx.step(\"name\", ..)`, or write `allow(await_outside_step)` in the attribute";
    impure_call(call) =
        "`{call}` gives another value each time the call resumes; put it into `ctx.step(\"name\", async {{ Ok({call}(..)) }})`, or write `allow(impure_call)` in the attribute";
    guard_across_park(name) =
        "`{name}` is let go when the call parks here, and taken anew when it resumes; write `drop({name})` before, or `allow(guard_across_park)` in the attribute";
    stream_of_borrows(call) =
        "rustc cannot tell whether a stream that makes its futures of borrowed items may be sent to another thread; write `.boxed()` after `{call}(..)`, or collect the futures into a `Vec` before, or write `allow(stream_of_borrows)` in the attribute";
    unordered_loop(over, call) =
        "`{over}` gives its items in another order each time the call resumes, and `{call}` has one name for all of them, so it may get the outcome of another item; go over a `BTreeMap`, a `BTreeSet` or a sorted `Vec`, or write `allow(unordered_loop)` in the attribute";

    // `#[derive(Input)]`.
    input_tuple_struct(name) =
        "the person needs a name for each field, and those of `{name}` have none; write `struct {name} {{ field: Type }}`";
    input_without_fields(name) = "`{name}` asks for nothing; add a field";
    input_union(name) = "`{name}` is a union, and a form fills in every field; write a struct";
    input_generic(name) = "a form has one schema, so `{name}` cannot be generic; write the concrete types";
    input_enum_data(variant) =
        "a person picks `{variant}` from a list, which leaves nothing to fill in; remove its fields, or ask for them in another question";
    repeated_field(name) =
        "two fields would be sent as `{name}`; give one of them another name, or `#[input(rename = \"..\")]`";
}
