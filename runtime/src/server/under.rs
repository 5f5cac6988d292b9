//! The author's own handler under a server: prompts, resources, completion, and tools by other
//! means. Its type is forgotten here, so that `Server` needs no parameter for it.

#![expect(
    deprecated,
    reason = "older clients still set levels and subscribe to resources"
)]

use std::{borrow::Cow, fmt};

use rmcp::{
    ServerHandler,
    model::{self, ErrorData, ProtocolVersion, ServerConfig, SubscriptionFilter, Tool},
    service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext},
};

use crate::host::BoxFuture;

type Context = RequestContext<RoleServer>;
type Told = NotificationContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

/// Gives `$do` what is the handler's alone: what comes with each, and its answer.
macro_rules! passed_on {
    ($do:ident) => {
        $do! {
            ping(; Context) -> Answer<()>;
            complete(model::CompleteRequestParams; Context) -> Answer<model::CompleteResult>;
            set_level(model::SetLevelRequestParams; Context) -> Answer<()>;
            get_prompt(model::GetPromptRequestParams; Context) -> Answer<model::GetPromptResponse>;
            list_prompts(Option<model::PaginatedRequestParams>; Context) -> Answer<model::ListPromptsResult>;
            list_resources(Option<model::PaginatedRequestParams>; Context) -> Answer<model::ListResourcesResult>;
            list_resource_templates(Option<model::PaginatedRequestParams>; Context) -> Answer<model::ListResourceTemplatesResult>;
            read_resource(model::ReadResourceRequestParams; Context) -> Answer<model::ReadResourceResponse>;
            subscribe(model::SubscribeRequestParams; Context) -> Answer<()>;
            unsubscribe(model::UnsubscribeRequestParams; Context) -> Answer<()>;
            list_skills(Option<model::PaginatedRequestParams>; Context) -> Answer<model::ListSkillsResult>;
            get_skill(model::GetSkillRequestParams; Context) -> Answer<model::GetSkillResult>;
            read_resource_directory(model::ReadResourceDirectoryRequestParams; Context) -> Answer<model::ListResourcesResult>;
            on_cancelled(model::CancelledNotificationParam; Told) -> ();
            on_progress(model::ProgressNotificationParam; Told) -> ();
            on_initialized(; Told) -> ();
            on_roots_list_changed(; Told) -> ();
            on_custom_notification(model::CustomNotification; Told) -> ();
        }
    };
}

pub(super) use passed_on;

/// Declares methods of a handler as a trait that can be an object.
macro_rules! declare {
    (
        $(#[$doc:meta])* $name:ident:
        $($method:ident($($params:ty)?; $context:ty) -> $answer:ty;)*
    ) => {
        $(#[$doc])*
        pub(super) trait $name: Send + Sync {
            $(fn $method(
                &self,
                $(params: $params,)?
                context: $context,
            ) -> BoxFuture<'_, $answer>;)*
        }

        impl<H: ServerHandler> $name for H {
            $(fn $method(
                &self,
                $(params: $params,)?
                context: $context,
            ) -> BoxFuture<'_, $answer> {
                Box::pin(ServerHandler::$method(
                    self,
                    $({ let params: $params = params; params },)?
                    context,
                ))
            })*
        }
    };
}

macro_rules! declare_passed_on {
    ($($methods:tt)*) => {
        declare! {
            /// What is the handler's alone.
            PassedOn: $($methods)*
        }
    };
}

passed_on!(declare_passed_on);

declare! {
    /// What the server has a part in, too.
    Shared:
    initialize(model::InitializeRequestParams; Context) -> Answer<model::InitializeResult>;
    list_tools(Option<model::PaginatedRequestParams>; Context) -> Answer<model::ListToolsResult>;
    call_tool(model::CallToolRequestParams; Context) -> Answer<model::CallToolResponse>;
    on_custom_request(model::CustomRequest; Context) -> Answer<model::CustomResult>;
    listen(; SubscriptionContext) -> Answer<()>;
    get_task(model::GetTaskParams; Context) -> Answer<model::GetTaskResult>;
    update_task(model::UpdateTaskParams; Context) -> Answer<()>;
    cancel_task(model::CancelTaskParams; Context) -> Answer<()>;
}

/// A handler under a server.
pub(super) trait Underneath: PassedOn + Shared {
    fn config(&self) -> ServerConfig;
    fn versions(&self) -> Cow<'static, [ProtocolVersion]>;
    fn tool(&self, name: &str) -> Option<Tool>;
    fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter>;
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
