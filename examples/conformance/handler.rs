//! A handler of the SDK, for what Siding's tools do not ask: samples, roots, and prompts that ask.

use std::sync::Arc;

use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequest, InputRequests,
        InputRequiredResult, ListPromptsResult, ListToolsResult, PaginatedRequestParams, Prompt,
        PromptMessage, Role, ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, RoleServer},
};
use serde_json::{Value, json};

/// What the round of several requests hands out, and wants to have back.
const STATE: &str = "several";

type Context = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

/// Serves what the suite asks for beside tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler;

/// A tool that asks for something in its first round.
struct Asking {
    name: &'static str,
    /// Keys, and what is asked under them.
    requests: fn() -> Vec<(&'static str, InputRequest)>,
    state: Option<&'static str>,
}

const TOOLS: [Asking; 4] = [
    Asking {
        name: "test_input_required_result_sampling",
        requests: || vec![("capital_question", sample("What is the capital of France?"))],
        state: None,
    },
    Asking {
        name: "test_input_required_result_list_roots",
        requests: || vec![("client_roots", roots())],
        state: None,
    },
    Asking {
        name: "test_input_required_result_multiple_inputs",
        requests: || {
            vec![
                ("user_name", form("What is your name?", "name")),
                ("greeting", sample("Say hello.")),
                ("client_roots", roots()),
            ]
        },
        state: Some(STATE),
    },
    // The client of this scenario declares samples, and nothing else.
    Asking {
        name: "test_input_required_result_capabilities",
        requests: || vec![("greeting", sample("Say hello."))],
        state: None,
    },
];

impl Asking {
    fn tool(&self) -> Tool {
        let schema = json!({ "type": "object", "additionalProperties": false });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(
            self.name,
            "Asks in a round before it answers.",
            Arc::new(schema),
        )
    }

    fn call(&self, request: &CallToolRequestParams) -> CallToolResponse {
        let requests = (self.requests)();
        let answers = request.input_responses.as_ref();
        let is_answered = requests
            .iter()
            .all(|(key, _)| answers.is_some_and(|answers| answers.contains_key(*key)));
        if is_answered && request.request_state.as_deref() == self.state {
            let answers = json!(answers).to_string();
            return CallToolResult::success(vec![ContentBlock::text(answers)]).into();
        }
        let state = self.state.map(Into::into);
        InputRequiredResult::new(Some(keyed(requests)), state).into()
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListToolsResult> {
        let tools = TOOLS.iter().map(Asking::tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS
            .iter()
            .find(|tool| tool.name == name)
            .map(Asking::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Context,
    ) -> Answer<CallToolResponse> {
        let tool = TOOLS.iter().find(|tool| tool.name == request.name);
        let unknown =
            || ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None);
        tool.map(|tool| tool.call(&request)).ok_or_else(unknown)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListPromptsResult> {
        let prompt = Prompt::new(PROMPT, Some("Asks before it is there."), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answer<GetPromptResponse> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params(
                format!("unknown prompt `{}`", request.name),
                None,
            ));
        }
        let answers = request.input_responses.unwrap_or_default();
        let Some(context) = answers.get("user_context") else {
            let asked = vec![("user_context", form("What is it about?", "context"))];
            return Ok(InputRequiredResult::from_input_requests(keyed(asked)).into());
        };
        let text = context["content"]["context"].as_str().unwrap_or_default();
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

const PROMPT: &str = "test_input_required_result_prompt";

fn keyed(requests: Vec<(&'static str, InputRequest)>) -> InputRequests {
    let requests = requests.into_iter();
    requests
        .map(|(key, request)| (key.to_owned(), request))
        .collect()
}

fn form(message: &str, field: &str) -> InputRequest {
    read(json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { (field): { "type": "string" } },
                "required": [field],
            },
        },
    }))
}

fn sample(text: &str) -> InputRequest {
    read(json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
            "maxTokens": 100,
        },
    }))
}

fn roots() -> InputRequest {
    read(json!({ "method": "roots/list" }))
}

/// What the SDK reads from JSON that is written here.
fn read(json: Value) -> InputRequest {
    serde_json::from_value(json).expect("it is what the protocol says")
}
