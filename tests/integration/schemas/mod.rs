//! The schemas that clients are told, and whether tools take what their schemas say.
//!
//! Beside each module stands the schema of its tool as JSON (`UPDATE_EXPECT=1` rewrites it).

mod collections;
mod enums;
mod foreign;
mod numbers;
mod outputs;
mod recursive;
mod structs;
mod texts;

use expect_test::ExpectFile;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use siding::Server;

use crate::support::{Declares, Wire};

/// A server with one tool, seen as its schema and as what it does.
struct Subject {
    wire: Wire,
    listed: Value,
    /// The schema of its arguments, read by either draft.
    drafts: [Validator; 2],
    /// Arguments that fit.
    fitting: Value,
}

impl Subject {
    /// The one tool of `server`, which takes the arguments `fitting`.
    async fn new(server: Server, fitting: Value) -> Self {
        let mut wire = Wire::modern(server, Declares::Nothing);
        let mut tools = wire.request("tools/list", json!({})).await.unwrap();
        let listed = tools["tools"][0].take();
        let drafts = validators(&listed["inputSchema"]);
        let mut subject = Self {
            wire,
            listed,
            drafts,
            fitting,
        };
        let schema = &subject.listed["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        let fitting = subject.fitting.clone();
        subject.takes_all(&fitting).await;
        subject
    }

    /// Compares the schema of the arguments to the one that was approved.
    fn has(&self, approved: &ExpectFile) {
        approved.assert_eq(&pretty(&self.listed["inputSchema"]));
    }

    /// Both drafts and the tool take each of `values` as the argument `name`.
    async fn takes<const N: usize>(&mut self, name: &str, values: [Value; N]) {
        for value in values {
            let arguments = self.with(name, value);
            self.takes_all(&arguments).await;
        }
    }

    /// Neither draft, nor the tool, takes any of `values` as the argument `name`.
    async fn refuses<const N: usize>(&mut self, name: &str, values: [Value; N]) {
        for value in values {
            let arguments = self.with(name, value);
            for schema in &self.drafts {
                assert!(!schema.is_valid(&arguments), "{name}: {arguments}");
            }
            self.is_an_error(name, &arguments).await;
        }
    }

    /// The tool takes none of `values`; a reader of draft 7 only sees less.
    async fn refuses_by_2020_12<const N: usize>(&mut self, name: &str, values: [Value; N]) {
        for value in values {
            let arguments = self.with(name, value);
            let [latest, draft7] = &self.drafts;
            assert!(!latest.is_valid(&arguments), "{name}: {arguments}");
            assert!(draft7.is_valid(&arguments), "{name}: {arguments}");
            self.is_an_error(name, &arguments).await;
        }
    }

    /// The schema takes none of `values`, by an attribute that serde does not know.
    fn advises_against<const N: usize>(&self, name: &str, values: [Value; N]) {
        for value in values {
            let arguments = self.with(name, value);
            for schema in &self.drafts {
                assert!(!schema.is_valid(&arguments), "{name}: {arguments}");
            }
        }
    }

    /// The argument `name` may be left out, and must not be `null` by the schema.
    async fn may_miss(&mut self, name: &str) {
        let mut arguments = self.fitting.clone();
        arguments.as_object_mut().unwrap().remove(name);
        self.takes_all(&arguments).await;
        self.advises_against(name, [Value::Null]);
        let nullish = self.with(name, Value::Null);
        assert_eq!(self.call(&nullish).await["isError"], false, "{name}");
    }

    fn with(&self, name: &str, value: Value) -> Value {
        let mut arguments = self.fitting.clone();
        arguments[name] = value;
        arguments
    }

    async fn takes_all(&mut self, arguments: &Value) {
        for schema in &self.drafts {
            if let Err(error) = schema.validate(arguments) {
                panic!("{arguments}: {error} at {}", error.schema_path());
            }
        }
        let result = self.call(arguments).await;
        assert_eq!(result["isError"], false, "{arguments}: {result}");
    }

    async fn is_an_error(&mut self, name: &str, arguments: &Value) {
        let result = self.call(arguments).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("`{name}` does not fit")), "{text}");
    }

    async fn call(&mut self, arguments: &Value) -> Value {
        let tool = self.listed["name"].as_str().unwrap();
        self.wire.call(tool, arguments.clone()).await.unwrap()
    }
}

/// Reads `schema` by draft 2020-12 and by draft 7; in both it is a schema itself.
fn validators(schema: &Value) -> [Validator; 2] {
    [Draft::Draft202012, Draft::Draft7].map(|draft| {
        let validator = jsonschema::options()
            .with_draft(draft)
            .should_validate_formats(true)
            .build(schema);
        validator.unwrap_or_else(|error| panic!("{draft:?}: {error} in {schema}"))
    })
}

fn pretty(schema: &Value) -> String {
    format!("{schema:#}\n")
}
