//! Values that JSON cannot hold as they are: the step that gives one fails, and says so.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use siding::{prelude::*, retry::ConstantBuilder};
use tokio::time::sleep;

use crate::support::{Wire, text};

/// How often an effect happened.
type Effects = Arc<AtomicU32>;

/// Cannot be read back, for its field is never written.
#[derive(Serialize, Deserialize)]
struct Half {
    #[serde(skip_serializing)]
    id: u32,
}

/// Two members of which one takes the keys of the other.
#[derive(Serialize, Deserialize)]
struct Flat {
    id: u32,
    #[serde(flatten)]
    rest: BTreeMap<String, u32>,
}

/// The effect of a step, and the value that it gives.
async fn give<T>(effects: Arc<Effects>, value: T) -> Result<T> {
    effects.fetch_add(1, Relaxed);
    Ok(value)
}

/// Runs one step that gives a value which does not survive.
#[mcp_tool(task = "required")]
async fn lose(ctx: &mut Ctx<Effects>, how: String) -> Result<String> {
    let effects = ctx.state();
    let failed = match how.as_str() {
        "nan" => ctx.step("share", give(effects, f64::NAN)).await.err(),
        "optional nan" => {
            let value = Some(f64::NAN);
            ctx.step("optional", give(effects, value)).await.err()
        }
        "some unit" => ctx.step("unit", give(effects, Some(()))).await.err(),
        "half" => {
            let half = ctx.step("half", give(effects, Half { id: 1 })).await;
            half.map(|half| half.id).err()
        }
        "flat" => {
            let rest = BTreeMap::from([("id".to_owned(), 2)]);
            let value = Flat { id: 1, rest };
            ctx.step("flat", give(effects, value)).await.err()
        }
        "cleanup" => {
            let value = f32::INFINITY;
            ctx.cleanup("tidy", give(effects, value)).await.err()
        }
        "retry" => {
            let policy = ConstantBuilder::new().with_max_times(3);
            let attempt = || give(effects.clone(), f64::NAN);
            ctx.step_retry("try", policy, attempt).await.err()
        }
        _ => {
            let shares = [1.0, f64::NAN];
            let run = |share| give(effects.clone(), share);
            ctx.step_all("each", shares, run).await.err()
        }
    };
    let error = failed.expect("the step failed").to_string();
    let seen: bool = ctx.input("Seen?").await?;
    Ok(format!("{seen}: {error}"))
}

/// Gives what JSON can hold, in another order each time.
#[mcp_tool(task = "required")]
async fn keep(ctx: &mut Ctx<Effects>) -> Result<usize> {
    let counts: HashMap<u32, Option<f64>> =
        (0..100).map(|n| (n, Some(0.1 * f64::from(n)))).collect();
    let counts = ctx.step("counts", async { Ok(counts) }).await?;
    Ok(counts.len())
}

fn server(effects: &Effects) -> Server<Effects> {
    Server::new("values", "1.0.0")
        .state(effects.clone())
        .tools(tools![lose, keep])
}

/// What the tool saw of its step, once at first and once as a replay has it.
async fn lost(how: &str, key: &str) -> String {
    let effects = Effects::default();
    let mut wire = Wire::tasks(server(&effects));
    let id = wire.task("lose", json!({ "how": how })).await;
    sleep(Duration::from_secs(1)).await;
    let task = wire.get(&id).await;
    assert_eq!(task["status"], "input_required", "{how}: {task}");
    wire.accept(&id, "seen", json!({ "value": true })).await;
    let task = wire.end(&id).await;
    let text = text(&task["result"]).to_owned();
    let told = format!("true: the value of the {key} ");
    assert!(text.starts_with(&told), "{how}: {text}");
    let once = if how == "members" { 2 } else { 1 };
    assert_eq!(effects.load(Relaxed), once, "{how}");
    text
}

#[tokio::test(start_paused = true)]
async fn a_value_that_cannot_be_read_back_fails_its_step_at_once() {
    let unreadable = [
        ("nan", "step `share`"),
        ("half", "step `half`"),
        ("cleanup", "cleanup `tidy`"),
        ("retry", "step `try`"),
        ("members", "step `each/1`"),
    ];
    for (how, key) in unreadable {
        let text = lost(how, key).await;
        assert!(text.contains("cannot be read back"), "{how}: {text}");
        assert!(text.contains("return "), "{how}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_another_one_comes_back_for_fails_its_step() {
    let changed = [
        ("optional nan", "step `optional`"),
        ("some unit", "step `unit`"),
    ];
    for (how, key) in changed {
        let text = lost(how, key).await;
        assert!(text.contains("as another value"), "{how}: {text}");
        assert!(text.contains("return "), "{how}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_flattened_member_takes_fails_its_step() {
    lost("flat", "step `flat`").await;
}

#[tokio::test(start_paused = true)]
async fn the_order_of_a_map_is_no_other_value() {
    let mut wire = Wire::tasks(server(&Effects::default()));
    let id = wire.task("keep", json!({})).await;
    let task = wire.end(&id).await;
    assert_eq!(task["result"]["structuredContent"], 100, "{task}");
}
