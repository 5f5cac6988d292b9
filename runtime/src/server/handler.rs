//! The protocol's requests, one by one.

use std::sync::Arc;

use rmcp::{
    ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ConstString, CustomRequest,
        CustomResult, ErrorCode, ErrorData, GetTaskParams, GetTaskResult, InitializeRequestParams,
        InitializeResult, ListToolsResult, PaginatedRequestParams, ServerConfig,
        TASKS_EXTENSION_ID, Tool, UpdateTaskParams,
    },
    service::{RequestContext, RoleServer},
};

use super::{
    live::LiveClient,
    owner::Owners,
    wire::{self, Facts},
};
use crate::{
    decision::{Caller, Era},
    engine::{Call, Engine, Return, leg::Link},
    record::TaskId,
};

type Context = RequestContext<RoleServer>;

/// Serves one engine to any number of connections.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    engine: Engine,
    facts: Arc<Facts>,
    owners: Owners,
}

impl Handler {
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn new(engine: Engine, facts: Facts, owners: Owners) -> Self {
        Self {
            engine,
            facts: Arc::new(facts),
            owners,
        }
    }

    /// Refuses a request on tasks whose client did not declare them; before anything else is
    /// looked at, so that nothing can be learned of what there is.
    fn task_caller(context: &Context) -> Result<Caller, ErrorData> {
        let caller = wire::caller(context);
        if caller.follows_tasks() {
            Ok(caller)
        } else {
            Err(wire::needs_tasks())
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.facts.config.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        // Whoever initializes speaks a protocol that has no such extension (SEP-2663).
        if let Some(extensions) = &mut info.capabilities.extensions {
            extensions.remove(TASKS_EXTENSION_ID);
            if extensions.is_empty() {
                info.capabilities.extensions = None;
            }
        }
        Ok(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = wire::caller(&context);
        let mut result = ListToolsResult::with_all_items(self.facts.tools(caller));
        result.meta = self.facts.meta(caller);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.facts
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = wire::caller(&context);
        let call = Call {
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            caller,
            client: wire::client(&context),
            owner: self.owners.of(&context)?,
            link: (caller.era == Era::Legacy)
                .then(|| -> Arc<dyn Link> { Arc::new(LiveClient::new(context.peer.clone())) }),
            returns: request.request_state.map(|state| Return {
                state,
                answers: request.input_responses.unwrap_or_default(),
            }),
            cancelled: context.ct.clone(),
        };
        let reply = self.engine.call(call).await.map_err(wire::rejection)?;
        wire::reply(reply, caller, self.facts.meta(caller))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        let record = self
            .engine
            .get(&id, self.owners.of(&context)?.as_deref())
            .await
            .map_err(wire::error)?;
        Ok(wire::detailed(&record, self.facts.meta(caller)))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        let owner = self.owners.of(&context)?;
        let answers = request.input_responses;
        let updated = self.engine.update(&id, owner.as_deref(), answers).await;
        updated.map(drop).map_err(wire::error)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        self.engine
            .cancel(&id, self.owners.of(&context)?.as_deref())
            .await
            .map_err(wire::error)
    }

    /// Requests whose parameters do not have the shape of their method end up here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let shape = match request.method.as_str() {
            rmcp::model::GetTaskMethod::VALUE | rmcp::model::CancelTaskMethod::VALUE => {
                "`taskId` must be a string"
            }
            rmcp::model::UpdateTaskMethod::VALUE => {
                "`taskId` must be a string and `inputResponses` an object"
            }
            rmcp::model::CallToolRequestMethod::VALUE => {
                "`name` must be a string, `arguments` and `inputResponses` objects where they are given"
            }
            _ => {
                return Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    request.method,
                    None,
                ));
            }
        };
        let advertised = self.facts.config.capabilities.supports_tasks();
        if request.method.starts_with("tasks/") {
            if !advertised {
                return Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    request.method,
                    None,
                ));
            }
            Self::task_caller(&context)?;
        }
        let message = format!("the parameters of `{}` do not fit: {shape}", request.method);
        Err(ErrorData::invalid_params(message, None))
    }
}
