//! Between the protocol's types and ours.

use std::collections::BTreeMap;

use rmcp::{
    model::{
        CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, DetailedTask,
        ElicitationCapability, ErrorCode, ErrorData, GetTaskResult, InputRequest, InputRequests,
        InputRequiredResult, MetaObject, ProtocolVersion, ServerConfig, TASKS_EXTENSION_ID, Task,
        TaskPayload, TaskStatus, Tool, ToolAnnotations,
    },
    service::{RequestContext, RoleServer},
};
use serde_json::{Map, Value, json};

use super::elicitation::elicitation;
use crate::{
    Mode,
    decision::{Caller, Era},
    engine::{Rejection, Reply},
    error::ProtocolError,
    record::{Client, Elicits, End, Pinned, Record, Status},
    tool::Registered,
};

/// What a server says of itself: made once.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) config: ServerConfig,
    /// As newer clients read them.
    pub(super) tools: Vec<Tool>,
    /// `_meta` of every result.
    meta: MetaObject,
    /// Whether the handler under the server has tools of its own.
    pub(super) more_tools: bool,
    /// Whether it makes tasks of its own.
    pub(super) more_tasks: bool,
}

impl Facts {
    /// The facts of a server with these tools, over a handler whose capabilities are in `config`.
    pub(super) fn new(mut config: ServerConfig, tools: &[Registered]) -> Self {
        let capabilities = &mut config.capabilities;
        let more_tools = capabilities.tools.is_some();
        let more_tasks = capabilities.supports_tasks();
        capabilities.tools.get_or_insert_default();
        if tools.iter().any(can_be_task) {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.into(), Map::new());
        }
        let mut meta = MetaObject::new();
        meta.0.insert(
            "io.modelcontextprotocol/serverInfo".into(),
            json!(config.server_info),
        );
        Self {
            config,
            tools: tools.iter().map(listed).collect(),
            meta,
            more_tools,
            more_tasks,
        }
    }

    /// The tools, as this client can read them.
    pub(super) fn tools(&self, caller: Caller) -> Vec<Tool> {
        let mut tools = self.tools.clone();
        if caller.era == Era::Legacy {
            // They refuse the whole list for the sake of one schema that is not of an object.
            for tool in &mut tools {
                let of_object =
                    |schema: &Map<String, Value>| schema.get("type") == Some(&"object".into());
                tool.output_schema.take_if(|schema| !of_object(schema));
            }
        }
        tools
    }

    /// Whether there is a tool of this name, apart from those of the handler under the server.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The `_meta` of a result for this client; older ones know none of it.
    pub(super) fn meta(&self, caller: Caller) -> Option<MetaObject> {
        (caller.era == Era::Modern).then(|| self.meta.clone())
    }
}

/// Whether calls of the tool may become tasks.
pub(super) fn can_be_task(tool: &Registered) -> bool {
    tool.definition.mode != Mode::Forbidden
}

/// The tool as `tools/list` shows it.
fn listed(tool: &Registered) -> Tool {
    let definition = &tool.definition;
    let hints = definition.hints;
    let mut annotations = ToolAnnotations::new();
    annotations.title = definition.title.map(Into::into);
    annotations.read_only_hint = hints.read_only;
    annotations.destructive_hint = hints.destructive;
    annotations.idempotent_hint = hints.idempotent;
    annotations.open_world_hint = hints.open_world;
    let description = definition.description.map(Into::into);
    let mut listed = Tool::new_with_raw(definition.name, description, tool.input_schema.clone());
    listed.title = definition.title.map(Into::into);
    listed.output_schema = tool.output_schema.clone().map(Into::into);
    listed.annotations = (annotations != ToolAnnotations::new()).then_some(annotations);
    listed
}

/// The era of a protocol version; those before versions were named were older ones.
pub(super) fn era(version: Option<&str>) -> Era {
    match version {
        Some(version) if version >= ProtocolVersion::V_2026_07_28.as_str() => Era::Modern,
        _ => Era::Legacy,
    }
}

/// What this request, and no other, says of its client.
pub(super) fn caller(context: &RequestContext<RoleServer>) -> Caller {
    let protocol = context.protocol_version();
    let era = era(protocol.as_ref().map(ProtocolVersion::as_str));
    let capabilities = context.meta.client_capabilities();
    Caller {
        era,
        declares_tasks: capabilities.is_some_and(|capabilities| capabilities.supports_tasks()),
    }
}

/// The client, to be remembered with its task.
pub(super) fn client(context: &RequestContext<RoleServer>) -> Client {
    let info = context.client_info();
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    let elicitation = elicitation.as_ref();
    Client {
        name: info.as_ref().map(|info| info.name.clone()),
        version: info.map(|info| info.version),
        protocol: context
            .protocol_version()
            .map(|version| version.as_str().into()),
        // A declaration without modes means forms (2026-07-28, elicitation).
        elicits_forms: elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
        elicits_urls: elicitation.is_some_and(|modes| modes.url.is_some()),
    }
}

/// The error of a request that declared no tasks where it has to.
pub(super) fn needs_tasks() -> ErrorData {
    ErrorData::missing_required_client_capability(
        ClientCapabilities::builder().enable_tasks().build(),
    )
}

pub(super) fn error(error: ProtocolError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

pub(super) fn rejection(rejection: Rejection) -> ErrorData {
    match rejection {
        Rejection::NeedsTasks => needs_tasks(),
        Rejection::NeedsElicitation(Elicits { forms, urls }) => {
            let mut capabilities = ClientCapabilities::default();
            let mut modes = ElicitationCapability::new();
            modes.form = forms.then(Default::default);
            modes.url = urls.then(Default::default);
            capabilities.elicitation = Some(modes);
            ErrorData::missing_required_client_capability(capabilities)
        }
        Rejection::Error(protocol_error) => error(protocol_error),
    }
}

/// The answer to `tools/call`.
pub(super) fn reply(
    reply: Reply,
    caller: Caller,
    meta: Option<MetaObject>,
) -> Result<CallToolResponse, ErrorData> {
    match reply {
        Reply::Task { record, .. } => {
            let mut task = task(&record);
            // A new task is told as working (SEP-2663), whatever it came to since; that is seen when
            // it is looked at.
            if task.status != TaskStatus::Working {
                task.status = TaskStatus::Working;
                task.status_message = None;
            }
            let mut created = CreateTaskResult::new(task);
            created.meta = with_own(meta, &record);
            Ok(created.into())
        }
        Reply::Asked { record, unfit } => {
            let requests = input_requests(&record, &unfit);
            let mut asked = InputRequiredResult::new(Some(requests), record.request_state());
            asked.meta = meta;
            Ok(asked.into())
        }
        Reply::End(End::Result(members)) => {
            let mut result: CallToolResult = serde_json::from_value(Value::Object(members))
                .map_err(|cause| error(ProtocolError::internal(cause.to_string())))?;
            if caller.era == Era::Legacy {
                // Older clients take objects only; the JSON is in the text as well.
                let content = &mut result.structured_content;
                content.take_if(|content| !content.is_object());
            }
            if let Some(meta) = meta {
                result.meta.get_or_insert_default().extend(meta);
            }
            Ok(result.into())
        }
        Reply::End(End::Error(failure)) => Err(error(failure)),
        Reply::End(End::Cancelled) => Err(error(ProtocolError::internal("the call was cancelled"))),
    }
}

/// The answer to `tasks/get`.
pub(super) fn detailed(record: &Record, meta: Option<MetaObject>) -> GetTaskResult {
    let payload = match (&record.end, record.status()) {
        (Some(End::Result(result)), _) => TaskPayload::Completed {
            result: result.clone(),
        },
        (Some(End::Error(failure)), _) => TaskPayload::Failed {
            error: object(json!(failure)),
        },
        (Some(End::Cancelled), _) | (None, Status::Cancelled) => TaskPayload::Cancelled,
        (None, Status::InputRequired) => TaskPayload::InputRequired {
            input_requests: input_requests(record, &BTreeMap::new()),
        },
        (None, _) => TaskPayload::Working,
    };
    let mut result = GetTaskResult::new(DetailedTask::new(task(record), payload));
    result.meta = with_own(meta, record);
    result
}

/// The `_meta` of a view of the task, with what the tool set for it.
fn with_own(meta: Option<MetaObject>, record: &Record) -> Option<MetaObject> {
    if record.meta.is_empty() {
        return meta;
    }
    let mut meta = meta.unwrap_or_default();
    let own = record.meta.clone();
    meta.extend(MetaObject(own));
    Some(meta)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn task(record: &Record) -> Task {
    let status = match record.status() {
        Status::Working => TaskStatus::Working,
        Status::InputRequired => TaskStatus::InputRequired,
        Status::Completed => TaskStatus::Completed,
        Status::Failed => TaskStatus::Failed,
        Status::Cancelled => TaskStatus::Cancelled,
    };
    let origin = &record.origin;
    let mut task = Task::new(
        record.id().as_str(),
        status,
        origin.created_at.to_string(),
        record.updated_at.to_string(),
    );
    task.status_message.clone_from(&record.status_message);
    task.ttl_ms = record.ttl_ms;
    task.poll_interval_ms = Some(origin.poll_ms);
    task
}

/// All questions that wait for an answer; those in `unfit` tell why they are asked again.
fn input_requests(record: &Record, unfit: &BTreeMap<String, String>) -> InputRequests {
    let request = |Pinned { key, ask, .. }: &Pinned| {
        let elicitation = match unfit.get(key) {
            Some(violation) => elicitation(key, &ask.again(violation)),
            None => elicitation(key, ask),
        };
        (key.clone(), InputRequest::Elicitation(elicitation))
    };
    record.questions.iter().map(request).collect()
}
