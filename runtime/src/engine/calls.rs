//! Calls of tools: decides how each runs, and begins it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    Engine, Shared,
    attended::Attended,
    ends,
    leg::{self, Leg, Link, Listens, Reach, Way},
    rounds::Retrying,
    runner::{self, Claimed},
    store_failed,
};
use crate::{
    decision::{Caller, Decision, decide},
    digest::digest,
    error::ProtocolError,
    record::{Client, Delivery, Elicits, End, FORMAT, Origin, Record, TaskId},
    tool::{Detach, Registered},
};

/// A call of a tool, as it came in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) caller: Caller,
    pub(crate) client: Client,
    pub(crate) owner: Option<String>,
    /// The client, for questions while it waits; only older ones take any.
    pub(crate) link: Option<Arc<dyn Link>>,
    /// The client, where it wants to hear how far the call is.
    pub(crate) listens: Option<Arc<dyn Listens>>,
    /// Where the call was made before, and asked.
    pub(crate) retry: Option<Retry>,
    /// Raised when the client gave up on the request.
    pub(crate) cancelled: CancellationToken,
}

/// What a client brings that was asked by a round trip (SEP-2322).
#[derive(Debug)]
pub(crate) struct Retry {
    /// `requestState`.
    pub(crate) state: String,
    /// `inputResponses`.
    pub(crate) answers: BTreeMap<String, Value>,
}

/// What a call is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    /// It is done.
    End(End),
    /// It goes on as a task.
    Task {
        record: Arc<Record>,
        /// Whether this call made it one.
        made: bool,
    },
    /// It goes on when the client comes back with answers.
    Asked {
        record: Arc<Record>,
        /// What was wrong with the answers that it came with, by their keys.
        unfit: BTreeMap<String, String>,
    },
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Rejection {
    /// The client must declare the tasks extension.
    NeedsTasks,
    /// The client must declare elicitation, as it did when it was asked.
    NeedsElicitation(Elicits),
    /// A JSON-RPC error.
    Error(ProtocolError),
}

impl From<ProtocolError> for Rejection {
    fn from(error: ProtocolError) -> Self {
        Self::Error(error)
    }
}

impl Reply {
    /// A task that the call just made.
    pub(super) const fn task(record: Arc<Record>) -> Self {
        Self::Task { record, made: true }
    }

    pub(super) const fn asked(record: Arc<Record>) -> Self {
        Self::Asked {
            record,
            unfit: BTreeMap::new(),
        }
    }
}

impl Engine {
    /// Calls a tool: in this call or as a task, by one decision before any work.
    pub(crate) async fn call(&self, mut call: Call) -> Result<Reply, Rejection> {
        let shared = &self.shared;
        let Some(tool) = shared.tools.get(call.tool.as_str()) else {
            let message = format!(
                "unknown tool `{}`; `tools/list` names those there are",
                call.tool
            );
            return Err(ProtocolError::invalid_params(message).into());
        };
        let definition = &tool.definition;
        let decision = decide(definition.mode, definition.detach, call.caller);
        if decision == Decision::NeedsTasks {
            return Err(Rejection::NeedsTasks);
        }
        let checked = ends::guard(definition.name, || tool.check(&call.arguments))?;
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(violations) => {
                let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
                let text = format!(
                    "invalid arguments for `{}`:\n{}",
                    call.tool,
                    lines.join("\n")
                );
                return Ok(Reply::End(ends::tool_error(text)));
            }
        };
        match call.retry.take() {
            Some(retry) => shared.retry(Retrying::new(call, decision), retry).await,
            None => shared.begin(tool, call, arguments, decision).await,
        }
    }
}

impl Shared {
    /// Begins a call whose arguments are in order.
    async fn begin(
        self: &Arc<Self>,
        tool: &Registered,
        call: Call,
        arguments: Map<String, Value>,
        decision: Decision,
    ) -> Result<Reply, Rejection> {
        let way = match decision {
            Decision::InCall | Decision::NeedsTasks => Way::Call,
            Decision::Live => call.link.map_or(Way::Call, Way::Live),
            Decision::Rounds => Way::Rounds { detaches: false },
            Decision::Task(Detach::Manual) => Way::Rounds { detaches: true },
            Decision::Task(_) => Way::Task,
        };
        let ends_in_call = matches!(way, Way::Call | Way::Live(_));
        let reach = Reach {
            way,
            elicits: call.client.elicits(),
            listens: call.listens,
        };
        let origin = Arc::new(Origin {
            arguments,
            arguments_digest: if ends_in_call {
                String::new()
            } else {
                digest(&call.arguments)
            },
            owner: call.owner,
            client: call.client,
            ..self.origin(tool)
        });
        if ends_in_call {
            return Ok(Reply::End(
                self.run_in_call(tool, origin, reach, call.cancelled).await,
            ));
        }
        let ttl_ms = Some(tool.definition.ttl_ms);
        let detach_at = match decision {
            Decision::Task(Detach::Always) => {
                return Ok(Reply::task(self.create(origin, ttl_ms).await?));
            }
            Decision::Task(Detach::AfterMs(delay)) => self.host().now().checked_add(delay),
            _ => None,
        };
        let attended = Attended {
            origin,
            ttl_ms,
            reach,
            detach_at,
            left: call.cancelled,
        };
        self.attend(attended).await
    }

    async fn run_in_call(
        &self,
        tool: &Registered,
        origin: Arc<Origin>,
        reach: Reach,
        cancelled: CancellationToken,
    ) -> End {
        let leg = self.unwritten(origin, cancelled, reach, tracing::Span::none());
        runner::run_in_call(tool, &leg, self.host()).await
    }

    /// The leg of a call that is in no store.
    pub(super) fn unwritten(
        &self,
        origin: Arc<Origin>,
        cancelled: CancellationToken,
        reach: Reach,
        span: tracing::Span,
    ) -> Arc<Leg> {
        Leg::new(leg::Parts {
            origin,
            cancelled,
            host: self.ledger.host.clone(),
            limits: self.limits,
            journal: Vec::new(),
            reach,
            hold: None,
            closing: false,
            interrupted: false,
            span,
        })
    }

    /// Makes a task. It is in the store, and so known to every instance, before its first leg
    /// begins and before the client hears of it.
    async fn create(
        self: &Arc<Self>,
        origin: Arc<Origin>,
        ttl_ms: Option<u64>,
    ) -> Result<Arc<Record>, ProtocolError> {
        let _begins = self.begins()?;
        let lease = self.lease().await.map_err(|error| store_failed(&error))?;
        let record = Record::created(origin, Delivery::Task, ttl_ms, lease);
        let record = Arc::new(record);
        let since = self.host().steady();
        self.write(record.clone(), Vec::new()).await?;
        self.spawn_leg(Claimed::unattended(record.clone(), Vec::new(), since));
        Ok(record)
    }

    /// What is known of a new call of `tool` without looking at its request.
    fn origin(&self, tool: &Registered) -> Origin {
        let definition = &tool.definition;
        Origin {
            format: FORMAT,
            id: TaskId::from_random(self.host().random()),
            pool: self.pool.clone(),
            tool: definition.name.into(),
            fingerprint: tool.fingerprint.clone(),
            server_version: self.server_version.clone(),
            seed: self.ledger.random_name(),
            arguments: Map::new(),
            arguments_digest: String::new(),
            owner: None,
            client: Client::default(),
            created_at: self.host().now(),
            poll_ms: definition.poll_ms,
            cleans_up: definition.may_clean_up,
        }
    }
}
