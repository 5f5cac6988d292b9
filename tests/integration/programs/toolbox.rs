//! Methods as tools.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use siding::prelude::*;

use crate::support::{Declares, Wire};

struct Counter {
    count: AtomicU32,
    step: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counted {
    count: u32,
}

trait Shape {
    type Out;
}

impl Shape for Counter {
    type Out = Counted;
}

#[mcp_tools]
impl Counter {
    const START: u32 = 40;

    fn new() -> Self {
        Self {
            count: Self::START.into(),
            step: 1,
        }
    }

    /// Counts on.
    #[mcp_tool(idempotent = false)]
    async fn add(
        &self,
        #[arg(default = Self::START, rename = "by")] more: u32,
    ) -> Result<<Self as Shape>::Out> {
        Ok(self.counted(more))
    }

    /// Counts on after it asked.
    #[mcp_tool(task = "required", name = "ask.add")]
    async fn ask_add(&self, ctx: &mut Ctx) -> Result<Counted> {
        let more = self.ask(ctx).await?;
        Ok(self.counted(more))
    }

    /// Reaches the state by the context too.
    #[mcp_tool]
    async fn step(&self, context: &mut Ctx<Self>) -> bool {
        context.state().step == self.step
    }

    /// Needs nothing.
    #[mcp_tool]
    async fn r#const() -> u32 {
        Self::START
    }

    #[mcp_part]
    async fn ask(&self, ctx: &mut Ctx) -> Result<u32> {
        let more = ctx
            .input(format!("How many more than {}?", self.step))
            .await?;
        Ok(more)
    }

    fn counted(&self, more: u32) -> Counted {
        let count = self.count.fetch_add(more, Relaxed) + more;
        Counted { count }
    }
}

fn server() -> Server<Counter> {
    Server::new("counter", "1.0.0").toolbox(Counter::new())
}

#[tokio::test(start_paused = true)]
async fn methods_are_tools_on_one_state() {
    let mut wire = Wire::modern(server(), Declares::Tasks);
    let listed = wire.request("tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["add", "ask.add", "step", "const"]);
    assert_eq!(tools[0]["inputSchema"]["properties"]["by"]["default"], 40);

    let result = wire.call("add", json!({ "by": 2 })).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "count": 42 }));
    let result = wire.call("step", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "true");
    let result = wire.call("const", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "40");

    let id = wire.parked("ask.add", json!({})).await;
    wire.accept(&id, "ask/more", json!({ "value": 8 })).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], json!({ "count": 50 }));
}

#[tokio::test]
async fn methods_stay_what_they_were() {
    let counter = Counter::new();
    assert_eq!(counter.add(1).await.unwrap().count, 41);
    assert_eq!(Counter::r#const().await, 40);
}
