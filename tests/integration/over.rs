//! A server over a handler that its author has already.

#![expect(deprecated, reason = "older clients still set levels and subscribe")]

use std::sync::{Arc, Mutex};

use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, CustomRequest,
        CustomResult, DetailedTask, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        GetTaskParams, GetTaskResult, Implementation, ListPromptsResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionFilter, Task, TaskPayload, TaskStatus, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext},
};
use serde_json::{Value, json};
use siding::prelude::*;

use crate::support::{Declares, Wire};

type Context = RequestContext<RoleServer>;
type Answer<T> = std::result::Result<T, ErrorData>;

/// A handler with something of everything, and two pages of tools.
#[derive(Clone, Default)]
struct Shop {
    /// Whether it tells of its tools by their names.
    tells: bool,
    /// Whether it makes tasks of its own.
    has_tasks: bool,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    fn hears(&self, what: impl Into<String>) {
        self.heard.lock().unwrap().push(what.into());
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn tool(name: &'static str) -> Tool {
    let schema = serde_json::from_value::<serde_json::Map<_, _>>(json!({ "type": "object" }));
    Tool::new(name, "A tool of the handler's.", Arc::new(schema.unwrap()))
}

impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .enable_completions();
        let capabilities = if self.has_tasks {
            capabilities.enable_tasks().build()
        } else {
            capabilities.build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("shop", "3.2.1"))
            .with_instructions("Ask for the menu.")
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListToolsResult> {
        let mut result = ListToolsResult::default();
        match page.and_then(|page| page.cursor) {
            None => {
                result.tools = vec![tool("menu"), tool("order")];
                result.next_cursor = Some("second".into());
            }
            Some(_) => result.tools = vec![tool("bill")],
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let known = ["menu", "order", "bill"].into_iter().find(|it| *it == name);
        known.filter(|_| self.tells).map(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Context,
    ) -> Answer<CallToolResponse> {
        let text = format!("{} by the handler", request.name);
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListPromptsResult> {
        let prompt = Prompt::new("greeting", None::<String>, None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answer<GetPromptResponse> {
        let message = PromptMessage::new_text(Role::User, request.name);
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListResourcesResult> {
        let menu = Resource::new("shop://menu", "menu");
        Ok(ListResourcesResult::with_all_items(vec![menu]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Answer<ReadResourceResponse> {
        let contents = ResourceContents::text("tea", request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Answer<()> {
        self.hears(format!("level {:?}", request.level));
        Ok(())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Answer<()> {
        self.hears(format!("subscribe {}", request.uri));
        Ok(())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.hears("roots changed");
    }

    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Answer<CustomResult> {
        Ok(CustomResult::new(json!({ "method": request.method })))
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Answer<GetTaskResult> {
        self.hears(format!("get {}", request.task_id));
        let at = "2026-11-29T12:00:00Z";
        let task = Task::new(request.task_id, TaskStatus::Working, at, at);
        Ok(GetTaskResult::new(DetailedTask::new(
            task,
            TaskPayload::Working,
        )))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Answer<()> {
        self.hears(format!("update {}", request.task_id));
        Ok(())
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Answer<()> {
        self.hears(format!("cancel {}", request.task_id));
        Ok(())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Answer<CompleteResult> {
        Ok(CompleteResult::new(
            CompletionInfo::new(vec!["green".into()]).unwrap(),
        ))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let told = context.sink().notify_tool_list_changed().await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        context.cancelled().await;
        Ok(())
    }
}

/// A tool that is a task.
#[mcp_tool(task = "required")]
async fn brew(ctx: &mut Ctx) -> Result<String> {
    let sure: bool = ctx.input("Sure?").await?;
    Ok(sure.to_string())
}

/// A tool with the name of one of the handler's.
#[mcp_tool(name = "menu")]
async fn another_menu() -> &'static str {
    "tea"
}

fn shop() -> Shop {
    Shop {
        tells: true,
        ..Shop::default()
    }
}

fn server() -> Server {
    Server::over(shop()).tool::<brew>()
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_handler_and_the_tools_are_one_server() {
    let mut wire = Wire::tasks(server());
    let said = wire.request("server/discover", json!({})).await.unwrap();
    let capabilities = said["capabilities"].as_object().unwrap();
    let all: Vec<_> = capabilities.keys().map(String::as_str).collect();
    assert_eq!(
        all,
        ["completions", "extensions", "prompts", "resources", "tools"]
    );
    assert_eq!(said["instructions"], "Ask for the menu.");
    let info = &said["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(
        (&info["name"], &info["version"]),
        (&json!("shop"), &json!("3.2.1"))
    );

    let first = wire.request("tools/list", json!({})).await.unwrap();
    assert_eq!(names(&first), ["brew", "menu", "order"]);
    let page = json!({ "cursor": first["nextCursor"] });
    let second = wire.request("tools/list", page).await.unwrap();
    assert_eq!(names(&second), ["bill"]);
    assert_eq!(second.get("nextCursor"), None);

    let theirs = wire.call("bill", json!({})).await.unwrap();
    assert_eq!(theirs["content"][0]["text"], "bill by the handler");
    let id = wire.parked("brew", json!({})).await;
    wire.accept(&id, "sure", json!({ "value": true })).await;
    assert_eq!(wire.end(&id).await["result"]["content"][0]["text"], "true");
}

#[tokio::test(start_paused = true)]
async fn prompts_resources_and_completion_keep_working() {
    let mut wire = Wire::tasks(server());
    let prompts = wire.request("prompts/list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"][0]["name"], "greeting");
    let prompt = json!({ "name": "greeting" });
    let prompt = wire.request("prompts/get", prompt).await.unwrap();
    assert_eq!(prompt["messages"][0]["content"]["text"], "greeting");
    let resources = wire.request("resources/list", json!({})).await.unwrap();
    assert_eq!(resources["resources"][0]["uri"], "shop://menu");
    let resource = json!({ "uri": "shop://menu" });
    let resource = wire.request("resources/read", resource).await.unwrap();
    assert_eq!(resource["contents"][0]["text"], "tea");
    let completion = json!({
        "ref": { "type": "ref/prompt", "name": "greeting" },
        "argument": { "name": "tea", "value": "g" },
    });
    let completed = wire.request("completion/complete", completion).await;
    assert_eq!(completed.unwrap()["completion"]["values"], json!(["green"]));
}

#[tokio::test(start_paused = true)]
async fn an_older_client_gets_both_and_no_tasks() {
    let (mut wire, said) = Wire::legacy(server(), Declares::Tasks).await;
    assert_eq!(said["capabilities"].get("extensions"), None);
    assert!(said["capabilities"].get("prompts").is_some());
    assert_eq!(said["serverInfo"]["name"], "shop");
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    assert_eq!(names(&listed), ["brew", "menu", "order"]);
    let theirs = wire.call("menu", json!({})).await.unwrap();
    assert_eq!(theirs["content"][0]["text"], "menu by the handler");
    let error = wire.call("brew", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32021);
}

#[tokio::test(start_paused = true)]
async fn one_listen_request_hears_of_both() {
    let mut wire = Wire::tasks(server());
    let id = wire.task("brew", json!({})).await;
    let wanted = json!({ "notifications": { "toolsListChanged": true, "taskIds": [id] } });
    wire.send("subscriptions/listen", wanted.clone()).await;
    let acknowledged = wire.acknowledged().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        wanted["notifications"]
    );
    wire.incoming("notifications/tools/list_changed").await;
    let told = wire.incoming("notifications/tasks").await;
    assert_eq!(told["params"]["taskId"], json!(id));
}

#[tokio::test(start_paused = true)]
async fn u15_a_name_that_the_handler_has_is_refused_at_the_start() {
    let (_ours, theirs) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Server::over(shop()).tool::<another_menu>();
    let error = server.serve(reader, writer).await.unwrap_err().to_string();
    assert!(error.contains("`menu`"), "{error}");
    assert!(error.contains("over.rs"), "{error}");
    assert!(error.contains("`Server::over`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn of_two_tools_with_one_name_the_hidden_one_of_the_handler_is_not_served() {
    let server = Server::over(Shop::default()).tool::<another_menu>();
    let mut wire = Wire::tasks(server);
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    assert_eq!(names(&listed), ["menu", "order"]);
    let ours = wire.call("menu", json!({})).await.unwrap();
    assert_eq!(ours["content"][0]["text"], "tea");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_ours_reaches_the_handler() {
    let shop = shop();
    let server = Server::over(shop.clone()).tool::<brew>();
    let (mut wire, _) = Wire::legacy(server, Declares::Nothing).await;
    let level = json!({ "level": "warning" });
    wire.request("logging/setLevel", level).await.unwrap();
    let resource = json!({ "uri": "shop://menu" });
    wire.request("resources/subscribe", resource).await.unwrap();
    let changed = "notifications/roots/list_changed";
    wire.write(&json!({ "jsonrpc": "2.0", "method": changed }))
        .await;
    let custom = wire.request("shop/open", json!({})).await.unwrap();
    assert_eq!(custom["method"], "shop/open");
    let heard = ["level Warning", "subscribe shop://menu", "roots changed"];
    assert_eq!(shop.heard(), heard);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_the_handler_are_asked_of_it_and_ours_are_not() {
    let shop = Shop {
        has_tasks: true,
        ..shop()
    };
    let server = Server::over(shop.clone()).tool::<brew>();
    let mut wire = Wire::tasks(server);
    let ours = wire.task("brew", json!({})).await;
    wire.get(&ours).await;
    wire.cancel(&ours).await.unwrap();
    assert!(shop.heard().is_empty());
    assert_eq!(wire.get("theirs").await["status"], "working");
    wire.update("theirs", json!({})).await.unwrap();
    wire.cancel("theirs").await.unwrap();
    assert_eq!(
        shop.heard(),
        ["get theirs", "update theirs", "cancel theirs"]
    );
    // Nobody learns of them without the declaration.
    let plain = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    let params = json!({ "taskId": "theirs", "_meta": plain });
    let error = wire.request("tasks/get", params).await.unwrap_err();
    assert_eq!(error["code"], -32021);
    assert_eq!(shop.heard().len(), 3);
}
