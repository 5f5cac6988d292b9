//! The author's own handler under a server: prompts, resources, completion, and tools by other
//! means. Its type is forgotten here, so that `Server` needs no parameter for it.

#![expect(
    deprecated,
    reason = "older clients still set levels and subscribe to resources"
)]

use std::{borrow::Cow, fmt};

use rmcp::{
    ServerHandler,
    model::{
        self, CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest,
        CustomResult, ErrorData, GetTaskParams, GetTaskResult, InitializeRequestParams,
        InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig,
        SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext},
};

use crate::host::BoxFuture;

/// Gives `$do` the requests that are the handler's alone: what comes with each, and its answer.
macro_rules! requests_passed_on {
    ($do:ident) => {
        $do! {
            ping() -> ();
            complete(model::CompleteRequestParams) -> model::CompleteResult;
            set_level(model::SetLevelRequestParams) -> ();
            get_prompt(model::GetPromptRequestParams) -> model::GetPromptResponse;
            list_prompts(Option<model::PaginatedRequestParams>) -> model::ListPromptsResult;
            list_resources(Option<model::PaginatedRequestParams>) -> model::ListResourcesResult;
            list_resource_templates(Option<model::PaginatedRequestParams>) -> model::ListResourceTemplatesResult;
            read_resource(model::ReadResourceRequestParams) -> model::ReadResourceResponse;
            subscribe(model::SubscribeRequestParams) -> ();
            unsubscribe(model::UnsubscribeRequestParams) -> ();
            list_skills(Option<model::PaginatedRequestParams>) -> model::ListSkillsResult;
            get_skill(model::GetSkillRequestParams) -> model::GetSkillResult;
            read_resource_directory(model::ReadResourceDirectoryRequestParams) -> model::ListResourcesResult;
        }
    };
}

/// Gives `$do` the notifications, all of which are the handler's.
macro_rules! notifications_passed_on {
    ($do:ident) => {
        $do! {
            on_cancelled(model::CancelledNotificationParam);
            on_progress(model::ProgressNotificationParam);
            on_initialized();
            on_roots_list_changed();
            on_custom_notification(model::CustomNotification);
        }
    };
}

pub(super) use {notifications_passed_on, requests_passed_on};

type Context = RequestContext<RoleServer>;

/// The answer to a request.
type Answer<'a, T> = BoxFuture<'a, Result<T, ErrorData>>;

macro_rules! declare_requests {
    ($($method:ident($($params:ty)?) -> $answer:ty;)*) => {
        /// The requests that are the handler's alone.
        pub(super) trait Requests: Send + Sync {
            $(fn $method(&self, $(params: $params,)? context: Context) -> Answer<'_, $answer>;)*
        }

        impl<H: ServerHandler> Requests for H {
            $(fn $method(&self, $(params: $params,)? context: Context) -> Answer<'_, $answer> {
                let passed_on = ServerHandler::$method(
                    self,
                    $({ let params: $params = params; params },)?
                    context,
                );
                Box::pin(passed_on)
            })*
        }
    };
}

macro_rules! declare_notifications {
    ($($method:ident($($params:ty)?);)*) => {
        /// What the handler is told.
        pub(super) trait Notifications: Send + Sync {
            $(fn $method(
                &self,
                $(params: $params,)?
                context: NotificationContext<RoleServer>,
            ) -> BoxFuture<'_, ()>;)*
        }

        impl<H: ServerHandler> Notifications for H {
            $(fn $method(
                &self,
                $(params: $params,)?
                context: NotificationContext<RoleServer>,
            ) -> BoxFuture<'_, ()> {
                let passed_on = ServerHandler::$method(
                    self,
                    $({ let params: $params = params; params },)?
                    context,
                );
                Box::pin(passed_on)
            })*
        }
    };
}

requests_passed_on!(declare_requests);
notifications_passed_on!(declare_notifications);

/// A handler under a server.
pub(super) trait Underneath: Requests + Notifications {
    fn config(&self) -> ServerConfig;
    fn versions(&self) -> Cow<'static, [ProtocolVersion]>;
    fn tool(&self, name: &str) -> Option<Tool>;
    fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter>;
    fn initialized(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Answer<'_, InitializeResult>;
    fn tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<'_, ListToolsResult>;
    fn call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<'_, CallToolResponse>;
    fn custom(&self, request: CustomRequest, context: Context) -> Answer<'_, CustomResult>;
    fn listening(&self, context: SubscriptionContext) -> Answer<'_, ()>;
    fn task(&self, request: GetTaskParams, context: Context) -> Answer<'_, GetTaskResult>;
    fn task_updated(&self, request: UpdateTaskParams, context: Context) -> Answer<'_, ()>;
    fn task_cancelled(&self, request: CancelTaskParams, context: Context) -> Answer<'_, ()>;
}

impl<H: ServerHandler> Underneath for H {
    fn config(&self) -> ServerConfig {
        self.get_info()
    }

    fn versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.supported_protocol_versions()
    }

    fn tool(&self, name: &str) -> Option<Tool> {
        self.get_tool(name)
    }

    fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted_subscription_filter(requested)
    }

    fn initialized(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Answer<'_, InitializeResult> {
        Box::pin(self.initialize(request, context))
    }

    fn tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<'_, ListToolsResult> {
        Box::pin(self.list_tools(page, context))
    }

    fn call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<'_, CallToolResponse> {
        Box::pin(self.call_tool(request, context))
    }

    fn custom(&self, request: CustomRequest, context: Context) -> Answer<'_, CustomResult> {
        Box::pin(self.on_custom_request(request, context))
    }

    fn listening(&self, context: SubscriptionContext) -> Answer<'_, ()> {
        Box::pin(self.listen(context))
    }

    fn task(&self, request: GetTaskParams, context: Context) -> Answer<'_, GetTaskResult> {
        Box::pin(self.get_task(request, context))
    }

    fn task_updated(&self, request: UpdateTaskParams, context: Context) -> Answer<'_, ()> {
        Box::pin(self.update_task(request, context))
    }

    fn task_cancelled(&self, request: CancelTaskParams, context: Context) -> Answer<'_, ()> {
        Box::pin(self.cancel_task(request, context))
    }
}

impl fmt::Debug for dyn Underneath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Underneath").finish_non_exhaustive()
    }
}

/// No handler of the author's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl ServerHandler for Nothing {}
