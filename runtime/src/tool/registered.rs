//! A tool that a server has, with its types forgotten.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Call, Definition, Detach, Tool,
    inputs::{Inputs, Violation},
};
use crate::{
    Ctx, ToolError,
    ctx::{Serves, Ticket},
    engine::leg::{Fault, Leg},
    host::BoxFuture,
};
use rmcp::model::CallToolResult;

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
    /// The path of the type, for messages to the author.
    pub(crate) path: &'static str,
    check: Check,
    start: Start,
}

/// What is wrong with the tools of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(
        "two tools are called `{name}`: `{first}` and `{second}`; give one another `name = ..`"
    )]
    SameName {
        name: &'static str,
        first: &'static str,
        second: &'static str,
    },
    #[error("the default of an argument of `{tool}` is none: {violation}")]
    BadDefault {
        tool: &'static str,
        violation: String,
    },
    #[error(
        "`{tool}` has the option `{option}`, which this version cannot serve yet; leave it out"
    )]
    Unserved {
        tool: &'static str,
        option: &'static str,
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
        Self::assemble(T::definition(), std::any::type_name::<T>(), check, start)
    }

    /// What does not depend on the types of a tool, to be compiled once.
    fn assemble(
        definition: Definition,
        path: &'static str,
        check: Check,
        start: Start,
    ) -> Result<Self, BuildError> {
        let tool = definition.name;
        let description = Inputs::describe(check);
        if let Some(violation) = bad_default(&description.defaults, check) {
            let violation = violation.to_string();
            return Err(BuildError::BadDefault { tool, violation });
        }
        if definition.detach != Detach::Always {
            let option = "detach";
            return Err(BuildError::Unserved { tool, option });
        }
        if definition.max_running.is_some() {
            let option = "max_running";
            return Err(BuildError::Unserved { tool, option });
        }
        Ok(Self {
            input_schema: description.schema.finish(),
            output_schema: description.output_schema,
            fingerprint: fingerprint(definition.operations),
            path,
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
        (self.start)(leg)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("definition", &self.definition)
            .field("path", &self.path)
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
        return call.await;
    }
    let why = inputs.failure().unwrap_or("they do not fit");
    leg.stop(Fault::arguments_changed(why));
    std::future::pending().await
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
