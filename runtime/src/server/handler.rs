//! The protocol's requests, one by one: what is ours, and what is passed on.

#![expect(deprecated, reason = "older clients still set levels")]

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    ServerHandler,
    model::{
        self, CallToolRequestParams, CallToolResponse, CancelTaskParams, ConstString,
        CustomRequest, CustomResult, ErrorCode, ErrorData, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerConfig, SubscriptionFilter, TASKS_EXTENSION_ID, Tool,
        UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext},
};

use super::{
    listen::Listening,
    live::{Listener, LiveClient},
    owner::Owners,
    under::{Underneath, passed_on},
    wire::{self, Facts},
};
use crate::{
    decision::{Caller, Era},
    engine::{
        Call, Engine, Reply, Retry,
        leg::{Link, Listens},
    },
    error::ProtocolError,
    record::TaskId,
};

type Context = RequestContext<RoleServer>;
type Told = NotificationContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

/// Serves one engine, and the handler under it, to any number of connections.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    engine: Engine,
    facts: Arc<Facts>,
    owners: Owners,
    under: Arc<dyn Underneath>,
}

impl Handler {
    pub(super) fn new(
        engine: Engine,
        facts: Facts,
        owners: Owners,
        under: Arc<dyn Underneath>,
    ) -> Self {
        Self {
            engine,
            facts: Arc::new(facts),
            owners,
            under,
        }
    }

    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    #[cfg(feature = "http")]
    pub(super) const fn owners(&self) -> &Owners {
        &self.owners
    }

    /// Whether it tells clients of tasks.
    pub(super) fn has_tasks(&self) -> bool {
        self.facts.config.capabilities.supports_tasks()
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

    /// Whether a task that is not here may be one that the handler under this made.
    fn may_be_theirs(&self, error: &ProtocolError) -> bool {
        self.facts.more_tasks && error.is_because("unknown_task")
    }

    async fn call_ours(
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
            listens: context
                .meta
                .get_progress_token()
                .map(|token| -> Arc<dyn Listens> {
                    let peer = context.peer.clone();
                    Arc::new(Listener { peer, token })
                }),
            retry: request.request_state.map(|state| Retry {
                state,
                answers: request.input_responses.unwrap_or_default(),
            }),
            cancelled: context.ct.clone(),
        };
        let reply = self.engine.call(call).await.map_err(wire::rejection)?;
        if let Reply::Task { record, made: true } = &reply {
            #[cfg(feature = "http")]
            if let Some(receipt) = super::http::Receipt::of(&context) {
                receipt.promise(&self.engine, record.id());
            }
            // The answer to a request that was taken back is not sent.
            if context.ct.is_cancelled() {
                self.engine.abandon(record.id()).await;
            }
        }
        wire::reply(reply, caller, self.facts.meta(caller))
    }
}

macro_rules! pass_on {
    ($($method:ident($($params:ty)?; $context:ty) -> $answer:ty;)*) => {
        $(async fn $method(&self, $(params: $params,)? context: $context) -> $answer {
            self.under.$method($({ let params: $params = params; params },)? context).await
        })*
    };
}

impl ServerHandler for Handler {
    passed_on!(pass_on);

    fn get_info(&self) -> ServerConfig {
        self.facts.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.under.versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        // For what it does meanwhile; what it answers knows nothing of the tools here.
        self.under
            .initialize(request.clone(), context.clone())
            .await?;
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
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = wire::caller(&context);
        let is_first = page.as_ref().is_none_or(|page| page.cursor.is_none());
        let mut result = if self.facts.more_tools {
            self.under.list_tools(page, context).await?
        } else {
            ListToolsResult::default()
        };
        result.tools.retain(|theirs| {
            let hidden = self.facts.has(&theirs.name);
            if hidden {
                tracing::error!(tool = %theirs.name, "two tools have one name: one is not served");
            }
            !hidden
        });
        if is_first || !self.facts.more_tools {
            result.tools.splice(0..0, self.facts.tools(caller));
        }
        if let Some(meta) = self.facts.meta(caller) {
            result.meta.get_or_insert_default().extend(meta);
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut ours = self.facts.tools.iter();
        let ours = ours.find(|tool| tool.name == name).cloned();
        ours.or_else(|| self.under.tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.facts.more_tools && !self.facts.has(&request.name) {
            return self.under.call_tool(request, context).await;
        }
        self.call_ours(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        let owner = self.owners.of(&context)?;
        match self.engine.get(&id, owner.as_deref()).await {
            Ok(record) => Ok(wire::detailed(&record, self.facts.meta(caller))),
            Err(error) if self.may_be_theirs(&error) => self.under.get_task(request, context).await,
            Err(error) => Err(wire::error(error)),
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        let owner = self.owners.of(&context)?;
        let answers = request.input_responses.clone();
        match self.engine.update(&id, owner.as_deref(), answers).await {
            Ok(_) => Ok(()),
            Err(error) if self.may_be_theirs(&error) => {
                self.under.update_task(request, context).await
            }
            Err(error) => Err(wire::error(error)),
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        Self::task_caller(&context)?;
        let id = TaskId::from(request.task_id.as_str());
        let owner = self.owners.of(&context)?;
        match self.engine.cancel(&id, owner.as_deref()).await {
            Ok(()) => Ok(()),
            Err(error) if self.may_be_theirs(&error) => {
                self.under.cancel_task(request, context).await
            }
            Err(error) => Err(wire::error(error)),
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let theirs = self.under.accepted(requested);
        theirs.or_else(|| self.has_tasks().then(SubscriptionFilter::default))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context().clone();
        let tasks = Listening::of(&request);
        let announced = async {
            match &tasks {
                Some(tasks) => tasks.announce(&self.engine, &self.facts, &request).await,
                None => std::future::pending().await,
            }
        };
        let is_theirs = *context.accepted() != SubscriptionFilter::default();
        let (has_tasks, ct) = (tasks.is_some(), request.ct.clone());
        let theirs = async {
            if !is_theirs {
                context.cancelled().await;
                return Ok(());
            }
            let listened = self.under.listen(context).await;
            // The handler has no more to tell, but there may be more of tasks.
            if has_tasks && listened.is_ok() {
                ct.cancelled().await;
            }
            listened
        };
        tokio::select! {
            listened = theirs => listened,
            () = announced => Ok(()),
            // What a client listens to ends in order.
            () = self.engine.closing() => Ok(()),
        }
    }

    /// Requests whose parameters do not have the shape of their method end up here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let shape = match request.method.as_str() {
            model::GetTaskMethod::VALUE | model::CancelTaskMethod::VALUE => {
                "`taskId` must be a string"
            }
            model::UpdateTaskMethod::VALUE => {
                "`taskId` must be a string and `inputResponses` an object"
            }
            model::CallToolRequestMethod::VALUE => {
                "`name` must be a string; where they are given, `arguments` and `inputResponses` objects and `requestState` a string"
            }
            model::SubscriptionsListenRequestMethod::VALUE => {
                "`notifications` must be an object of kinds, `taskIds` among them a list of strings"
            }
            _ => return self.under.on_custom_request(request, context).await,
        };
        if request.method.starts_with("tasks/") {
            if !self.has_tasks() {
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
