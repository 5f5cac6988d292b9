//! A tool that a server has, with its types forgotten.

use std::{fmt, panic::Location, sync::Arc};

use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use super::{
    Call, Definition, Tool,
    inputs::{Inputs, Violation},
};
use crate::{
    Ctx, ToolError,
    ctx::{Serves, Ticket},
    disclosure::Disclosure,
    engine::leg::{Fault, Leg, Terms},
    host::BoxFuture,
};

/// How a call of a tool ended.
pub(crate) type Outcome = Result<CallToolResult, ToolError>;

/// `Tool::run` without a context.
type Check = fn(&mut Inputs<'_>);

/// `Tool::run`, of any tool with the state `C`.
type Run<C> = for<'a> fn(&mut Inputs<'a>, Option<&'a mut Ctx<C>>) -> Option<Call<'a>>;

/// Runs a tool in a leg.
type Start = Box<dyn Fn(Arc<Leg>) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// A tool that a server has.
pub(crate) struct Registered {
    pub(crate) definition: Definition,
    pub(crate) input_schema: Map<String, Value>,
    pub(crate) output_schema: Option<Map<String, Value>>,
    /// What tells this version of the tool from others: its operations, in their order.
    pub(crate) fingerprint: String,
    /// What clients are told of its errors.
    pub(crate) disclosure: Arc<Disclosure>,
    check: Check,
    start: Start,
}

/// What is wrong with the tools of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(
        "two tools are called `{name}`, at {first} and at {second}; give one of them another \
         `name = ..`"
    )]
    SameName {
        name: &'static str,
        first: &'static Location<'static>,
        second: &'static Location<'static>,
    },
    #[error("the tool `{tool}` at {place} {problem}")]
    Tool {
        tool: &'static str,
        place: &'static Location<'static>,
        problem: String,
    },
}

impl Registered {
    /// The tool `T` of a server with the state `state`.
    pub(crate) fn new<T, S>(state: Arc<S>) -> Result<Self, BuildError>
    where
        T: Tool,
        T::State: Serves<S>,
        S: Send + Sync + 'static,
    {
        let check: Check = |inputs| {
            T::run(inputs, None);
        };
        let start = starter::<T::State, S>(T::run, state);
        Self::assemble(T::definition(), check, start)
    }

    /// What does not depend on the types of a tool, to be compiled once.
    fn assemble(definition: Definition, check: Check, start: Start) -> Result<Self, BuildError> {
        let refuse = |problem: String| BuildError::Tool {
            tool: definition.name,
            place: definition.place,
            problem,
        };
        let description = Inputs::describe(check);
        if let Some(violation) = description.misfits.first() {
            return Err(refuse(format!(
                "has an argument that cannot be as it is declared: {violation}"
            )));
        }
        if let Some(violation) = bad_default(&description.defaults, check) {
            return Err(refuse(format!(
                "has a default that is no value of its argument: {violation}"
            )));
        }
        if let Some(option) = unserved(&definition) {
            return Err(refuse(format!(
                "has the option `{option}`, which this version cannot serve yet; leave it out"
            )));
        }
        let takes_nothing = |schema: &Map<String, Value>| schema.get("not") == Some(&json!({}));
        if description
            .output_schema
            .as_ref()
            .is_some_and(takes_nothing)
        {
            return Err(refuse(
                "returns a value whose schema takes nothing; give its type a schema that is an \
                 object of keywords"
                    .into(),
            ));
        }
        Ok(Self {
            input_schema: description.schema.finish(),
            output_schema: description.output_schema,
            fingerprint: fingerprint(definition.operations),
            disclosure: Arc::default(),
            definition,
            check,
            start,
        })
    }

    /// The arguments after coercion and with their defaults, or all that is wrong with them.
    pub(crate) fn check(
        &self,
        raw: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<Violation>> {
        Inputs::check(raw, self.check)
    }

    /// Runs the tool in `leg`.
    pub(crate) fn start(&self, leg: Arc<Leg>) -> BoxFuture<'static, Outcome> {
        leg.settle(Terms {
            mode: self.definition.mode,
            disclosure: self.disclosure.clone(),
        });
        (self.start)(leg)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

/// Compiled once for each state, not for each tool.
fn starter<C, S>(run: Run<C>, state: Arc<S>) -> Start
where
    C: Serves<S> + ?Sized + Send + Sync + 'static,
    S: Send + Sync + 'static,
{
    Box::new(move |leg| {
        let ctx = C::ctx(Ticket::new(leg.clone()), state.clone());
        Box::pin(start(run, leg, ctx))
    })
}

async fn start<C>(run: Run<C>, leg: Arc<Leg>, mut ctx: Ctx<C>) -> Outcome
where
    C: ?Sized + Send + Sync + 'static,
{
    let origin = leg.origin.clone();
    let mut inputs = Inputs::read(&origin.arguments);
    if let Some(call) = run(&mut inputs, Some(&mut ctx)) {
        return call.await.map_err(|error| leg.disclose(error));
    }
    let why = inputs.failure().unwrap_or("they do not fit");
    leg.stop(Fault::arguments_changed(why));
    std::future::pending().await
}

/// An option that is known, but not served.
fn unserved(definition: &Definition) -> Option<&'static str> {
    definition.max_running.map(|_| "max_running")
}

/// The default that is no value of its parameter: one whose `Serialize` and `Deserialize`
/// disagree.
fn bad_default(defaults: &Map<String, Value>, run: Check) -> Option<Violation> {
    let violations = Inputs::check(defaults, run).err()?;
    let mut violations = violations.into_iter();
    violations.find(|violation| defaults.contains_key(&violation.argument))
}

fn fingerprint(operations: &[(&str, &str)]) -> String {
    let named: Vec<String> = operations
        .iter()
        .map(|(kind, key)| format!("{kind} {key}"))
        .collect();
    named.join("\n")
}
