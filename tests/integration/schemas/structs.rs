use std::collections::BTreeMap;

use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use siding::prelude::*;

use super::Subject;

/// A place.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Place {
    /// The street.
    street: String,
    /// The flat, where there are several.
    flat: Option<u8>,
    inner: Inner,
    more: Option<Inner>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Inner {
    deep: Option<Vec<Option<bool>>>,
    any: Value,
    perhaps: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read by serde")]
struct Renamed {
    first_name: String,
    #[serde(rename = "surname")]
    last_name: String,
    #[serde(default)]
    visit_count: u16,
    #[serde(default = "three")]
    tries: u8,
    #[serde(default)]
    note: Option<String>,
    #[serde(skip)]
    secret: u8,
    r#type: bool,
}

const fn three() -> u8 {
    3
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Page {
    limit: u8,
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Flattened {
    query: String,
    #[serde(flatten)]
    page: Page,
    #[serde(flatten)]
    labels: BTreeMap<String, bool>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Id(u32);

#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "read by serde")]
struct Wrapped {
    inner: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by serde")]
struct Both(u8, String);

#[derive(Deserialize, JsonSchema)]
struct Nothing;

#[derive(Deserialize, JsonSchema)]
#[serde(default)]
struct Defaulted {
    retries: u8,
    label: String,
}

impl Default for Defaulted {
    fn default() -> Self {
        Self {
            retries: 2,
            label: "none".into(),
        }
    }
}

/// What schemars knows and serde does not.
#[derive(Deserialize, JsonSchema)]
#[schemars(title = "Bounded values")]
#[expect(dead_code, reason = "read by serde")]
struct Bounded {
    #[schemars(range(min = 1, max = 10))]
    rating: u8,
    #[schemars(length(min = 2))]
    name: Option<String>,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    slug: String,
    #[schemars(extend("examples" = ["a@b.example"]))]
    mail: String,
    #[schemars(with = "Option<u16>")]
    port: Value,
}

/// Takes structs.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn structs(
    /// Where to.
    place: Place,
    renamed: Renamed,
    flattened: Flattened,
    id: Id,
    wrapped: Wrapped,
    both: Both,
    nothing: Nothing,
    defaulted: Defaulted,
    bounded: Bounded,
    /// Where from.
    option: Option<Place>,
    list: Vec<Page>,
) {
    drop((place, renamed, flattened, id, wrapped, both, nothing));
    drop((defaulted, bounded, option, list));
}

async fn subject() -> Subject {
    let fitting = json!({
        "place": { "street": "s", "inner": { "any": null } },
        "renamed": { "firstName": "a", "surname": "b", "type": true },
        "flattened": { "query": "q", "limit": 1 },
        "id": 1, "wrapped": 1, "both": [1, "a"], "nothing": null, "defaulted": {},
        "bounded": { "rating": 1, "slug": "a", "mail": "m", "port": 1 },
        "option": { "street": "s", "flat": 1, "inner": { "any": 1 }, "more": { "any": [] } },
        "list": [{ "limit": 1, "cursor": "c" }],
    });
    Subject::new(Server::new("schemas", "1").tool::<structs>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_structs_say_their_fields() {
    subject().await.has(&expect_file!["structs.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_options_are_plain_at_every_depth() {
    let mut tool = subject().await;
    for name in ["place", "option"] {
        let place = |inner: Value| json!({ "street": "s", "inner": inner });
        tool.takes(name, [place(json!({ "any": 1, "deep": [null] }))])
            .await;
        tool.refuses(name, [place(json!({})), place(json!(null))])
            .await;
        tool.refuses(name, [json!({}), json!({ "street": 1 })])
            .await;
        let inner = json!({ "any": 1, "deep": null });
        tool.advises_against(name, [place(inner)]);
        tool.advises_against(
            name,
            [json!({ "street": "s", "inner": { "any": 1 }, "more": null })],
        );
    }
    tool.may_miss("option").await;
}

#[tokio::test(start_paused = true)]
async fn u16_attributes_of_serde_are_in_the_schema_and_in_the_decoder() {
    let mut tool = subject().await;
    let renamed = |more: Value| {
        let mut value = json!({ "firstName": "a", "surname": "b", "type": true });
        for (name, member) in more.as_object().unwrap() {
            value[name] = member.clone();
        }
        value
    };
    tool.takes(
        "renamed",
        [renamed(json!({ "visitCount": 1, "tries": 255 }))],
    )
    .await;
    for wrong in [
        json!({ "visit_count": 1 }),
        json!({ "secret": 1 }),
        json!({ "tries": 256 }),
        json!({ "note": 1 }),
    ] {
        tool.refuses("renamed", [renamed(wrong)]).await;
    }
    tool.advises_against("renamed", [renamed(json!({ "note": null }))]);
    tool.takes(
        "flattened",
        [json!({ "query": "q", "limit": 1, "cursor": "c", "label": true })],
    )
    .await;
    tool.refuses(
        "flattened",
        [
            json!({ "query": "q" }),
            json!({ "query": "q", "limit": 1, "label": 1 }),
        ],
    )
    .await;
    tool.refuses("id", [json!([1]), json!(-1)]).await;
    tool.refuses("both", [json!([1]), json!({ "0": 1 })]).await;
    tool.refuses_by_2020_12("both", [json!(["a", 1])]).await;
    tool.refuses("nothing", [json!({}), json!(1)]).await;
    tool.takes("defaulted", [json!({ "retries": 1 })]).await;
    tool.refuses("defaulted", [json!({ "retries": -1 }), json!(1)])
        .await;
    tool.may_miss("wrapped").await;
    tool.refuses("wrapped", [json!("x"), json!(256)]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_attributes_of_schemars_are_in_the_schema() {
    let tool = subject().await;
    let bounded = |name: &str, value: Value| {
        let mut bounded = json!({ "rating": 1, "slug": "a", "mail": "m", "port": 1 });
        bounded[name] = value;
        bounded
    };
    tool.advises_against(
        "bounded",
        [
            bounded("rating", json!(0)),
            bounded("rating", json!(11)),
            bounded("name", json!("a")),
            bounded("name", json!(null)),
            bounded("slug", json!("A")),
            bounded("port", json!(65_536)),
        ],
    );
}
