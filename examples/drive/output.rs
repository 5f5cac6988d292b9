//! What is shown of a call: to a person, or to a script.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rmcp::model::{CallToolResult, Tool};
use serde_json::{Value, json};
use siding::client::{Ask, CallError, Event, Progress, Question};

use crate::{arguments::types, outcome::Outcome};

/// How far progress with a total is drawn.
const STEPS: u64 = 1_000;

/// Where events go. Clones draw on the same line.
#[derive(Clone)]
pub(crate) enum Output {
    /// One object per event.
    Json,
    /// A spinner on standard error, and the result on standard output.
    Text(ProgressBar),
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        if json {
            return Self::Json;
        }
        // Where standard error is no terminal, it draws nothing.
        Self::Text(ProgressBar::new_spinner())
    }

    /// Stops drawing, so that something else can.
    pub(crate) fn pause(&self) {
        if let Self::Text(bar) = self {
            bar.disable_steady_tick();
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// Draws, or goes on with it.
    pub(crate) fn resume(&self) {
        if let Self::Text(bar) = self {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    pub(crate) fn event(&self, event: &Event) {
        match self {
            Self::Json => println!("{}", as_json(event)),
            Self::Text(bar) => draw(bar, event),
        }
    }

    pub(crate) fn error(&self, error: &CallError) {
        match self {
            Self::Json => {
                let mut event = json!({
                    "event": "error",
                    "message": error.to_string(),
                    "code": Outcome::from(error).code(),
                });
                if let CallError::Failed { error, .. } | CallError::Refused(error) = error {
                    event["error"] = json!(error);
                }
                println!("{event}");
            }
            Self::Text(bar) => {
                bar.finish_and_clear();
                eprintln!("drive: {error}");
            }
        }
    }

    pub(crate) fn tools(&self, tools: &[Tool]) {
        match self {
            Self::Json => tools.iter().for_each(|tool| println!("{}", json!(tool))),
            Self::Text(_) => tools.iter().for_each(list),
        }
    }
}

fn draw(bar: &ProgressBar, event: &Event) {
    match event {
        Event::Created(task) => bar.println(format!("task {}", task.task_id)),
        Event::Status(task) => bar.set_message(task.status_message.clone().unwrap_or_default()),
        Event::Progress(progress) => draw_progress(bar, progress),
        Event::Result(result) | Event::Completed(result) => {
            bar.finish_and_clear();
            print_result(result);
        }
        Event::Cancelled { id } => {
            bar.finish_and_clear();
            match id {
                Some(id) => eprintln!("cancelled the task {id}"),
                None => eprintln!("cancelled the call"),
            }
        }
        _ => {}
    }
}

fn draw_progress(bar: &ProgressBar, progress: &Progress) {
    if let Some(message) = &progress.message {
        bar.set_message(message.clone());
    }
    match progress.total.filter(|total| *total > 0.0) {
        Some(total) => {
            if bar.length().is_none()
                && let Ok(style) =
                    ProgressStyle::with_template("{spinner} {bar:30} {percent}% {msg}")
            {
                bar.set_style(style);
                bar.set_length(STEPS);
            }
            bar.set_position(steps(progress.done / total));
        }
        None if progress.message.is_none() => bar.set_message(progress.done.to_string()),
        None => {}
    }
}

fn steps(part: f64) -> u64 {
    let whole = Duration::from_millis(STEPS);
    let part = whole.mul_f64(part.clamp(0.0, 1.0));
    u64::try_from(part.as_millis()).unwrap_or(STEPS)
}

fn print_result(result: &CallToolResult) {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|content| content.as_text())
        .map(|content| content.text.as_str())
        .collect();
    if texts.len() == result.content.len() && !texts.is_empty() {
        println!("{}", texts.join("\n"));
    } else {
        println!("{:#}", json!(result));
    }
}

fn list(tool: &Tool) {
    match &tool.title {
        Some(title) => println!("{}  {title}", tool.name),
        None => println!("{}", tool.name),
    }
    for line in tool.description.as_deref().unwrap_or_default().lines() {
        println!("  {line}");
    }
    let schema = &tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let kind = types(property).join(" or ");
        let optional = if required.contains(&name.as_str()) {
            ""
        } else {
            ", optional"
        };
        let default = match &property["default"] {
            Value::Null => String::new(),
            default => format!(", default {default}"),
        };
        let description = property["description"].as_str().unwrap_or_default();
        println!("    {name}=  {kind}{optional}{default}  {description}");
    }
}

fn as_json(event: &Event) -> Value {
    match event {
        Event::Result(result) => json!({ "event": "result", "result": result }),
        Event::Created(task) => json!({ "event": "created", "task": task }),
        Event::Status(task) => json!({ "event": "status", "task": task }),
        Event::Asked(question) => asked_as_json(question),
        Event::Progress(progress) => json!({
            "event": "progress",
            "done": progress.done,
            "total": progress.total,
            "message": progress.message,
        }),
        Event::Completed(result) => json!({ "event": "completed", "result": result }),
        Event::Cancelled { id } => json!({ "event": "cancelled", "id": id }),
        _ => json!({ "event": "unknown" }),
    }
}

fn asked_as_json(question: &Question) -> Value {
    let mut event = json!({
        "event": "asked",
        "key": question.key,
        "message": question.message,
        "violation": question.violation,
    });
    match &question.ask {
        Ask::Form(schema) => event["form"] = json!(schema),
        Ask::Url(url) => event["url"] = json!(url),
        _ => {}
    }
    event
}
