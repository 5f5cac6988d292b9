//! Tools under crashes, replays and updates that come twice, by the harness that authors have too.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::json;
use siding::{
    prelude::*,
    retry::ConstantBuilder,
    testing::{Recording, TestServer, crash_everywhere, replay_check},
};

type Charges = Arc<AtomicU32>;

/// Charges before it asks twice.
#[mcp_tool(task = "required")]
async fn pay(ctx: &mut Ctx<Charges>) -> Result<String> {
    let charges = ctx.state();
    ctx.step("charge", async {
        charges.fetch_add(1, Relaxed);
        Ok(())
    })
    .await?;
    let receipt: bool = ctx.input("A receipt?").await?;
    let (name, address): (String, Option<String>) =
        ctx.input_all(("Your name?", "Your address?")).await?;
    ctx.sleep(Duration::from_mins(5)).await?;
    Ok(format!("{receipt} {name} {address:?}"))
}

/// Waits, looks at the clock, cleans up.
#[mcp_tool(task = "required")]
async fn hold(ctx: &mut Ctx<Charges>) -> Result<bool> {
    let charges = ctx.state();
    ctx.step("hold", async {
        charges.fetch_add(1, Relaxed);
        Ok(())
    })
    .await?;
    let sure: Result<bool> = ctx.input("Keep it?").key("sure").await;
    let charges = ctx.state();
    ctx.cleanup("let go", async {
        charges.fetch_sub(1, Relaxed);
        Ok(())
    })
    .await?;
    sure
}

/// Charges at most once, even where the server dies in the middle of it.
#[mcp_tool(task = "required")]
async fn pay_at_most_once(ctx: &mut Ctx<Charges>) -> Result<String> {
    let charges = ctx.state();
    let outcome = ctx
        .step("charge", async {
            if charges.fetch_add(1, Relaxed) == 0 {
                // The other side took it, and the answer never came.
                std::future::pending::<()>().await;
            }
            Ok(())
        })
        .at_most_once()
        .await;
    Ok(match outcome {
        Err(error) if error.is_unknown() => "unknown".into(),
        other => format!("{other:?}"),
    })
}

/// Changes a variable where a replay does not.
#[mcp_tool(task = "required")]
async fn forgetful(ctx: &mut Ctx<Charges>) -> Result<Vec<u32>> {
    let sure: bool = ctx.input("Sure?").await?;
    let mut seen = vec![u32::from(sure)];
    let more = &mut seen;
    let count = async {
        more.push(2);
        siding::Ok(())
    };
    ctx.step("count", count).await?;
    Ok(seen)
}

fn server(charges: &Charges) -> impl Fn() -> Server<Charges> + Clone + Send + Sync + 'static {
    let charges = charges.clone();
    move || {
        let server = Server::new("till", "1.0.0").state(charges.clone());
        server.tools(tools![
            pay,
            hold,
            pay_at_most_once,
            forgetful,
            impatient,
            patient,
            price,
            invite
        ])
    }
}

async fn paid(server: &TestServer) -> Recording {
    let task = server.call("pay", json!({})).await;
    assert_eq!(task.asks("receipt").await, "A receipt?");
    task.answer("receipt", true).await;
    task.answer("address", json!(null)).await;
    task.answer("name", "Ada").await;
    server.settle().await;
    server.advance(Duration::from_mins(6)).await;
    assert_eq!(task.end().await.text(), "true Ada None");
    task.recording().await
}

#[tokio::test]
async fn u05_one_charge_before_two_questions_is_charged_once_wherever_the_server_dies() {
    let charges = Charges::default();
    let plays = AtomicU32::new(0);
    let crashes = crash_everywhere(server(&charges), async |server| {
        charges.store(0, Relaxed);
        plays.fetch_add(1, Relaxed);
        paid(server).await;
        assert_eq!(charges.load(Relaxed), 1);
    });
    let crashes = crashes.await;
    assert_eq!(crashes + 1, plays.load(Relaxed));
    // Every write of the run was the last one once: the task, the step, three parks, three
    // answers, the legs between them, and the end.
    assert!(crashes >= 11, "{crashes}");
}

#[tokio::test]
async fn u23_what_was_held_is_let_go_once_wherever_the_server_dies() {
    let charges = Charges::default();
    let crashes = crash_everywhere(server(&charges), async |server| {
        charges.store(0, Relaxed);
        let task = server.call("hold", json!({})).await;
        task.asks("sure").await;
        task.cancel().await;
        server.settle().await;
        server.advance(Duration::from_mins(2)).await;
        assert!(task.end().await.is_cancelled());
        assert_eq!(charges.load(Relaxed), 0);
    });
    assert!(crashes.await >= 6);
}

#[tokio::test]
async fn u02_updates_that_come_twice_change_nothing() {
    let charges = Charges::default();
    let server = TestServer::new(server(&charges));
    server.deliver_twice();
    paid(&server).await;
    assert_eq!(charges.load(Relaxed), 1);
}

#[tokio::test]
async fn a_run_reaches_its_end_from_every_prefix_of_its_journal() {
    let charges = Charges::default();
    let recording = paid(&TestServer::new(server(&charges))).await;
    assert_eq!(recording.len(), 9);
    replay_check(server(&charges), &recording).await;
    // Also when it was kept as JSON.
    let kept = serde_json::to_string(&recording).unwrap();
    replay_check(server(&charges), &serde_json::from_str(&kept).unwrap()).await;
}

#[tokio::test]
#[should_panic(expected = "taken up from the first 3 of 3 entries, the run ends differently")]
async fn a_change_inside_of_a_step_is_found_by_the_replay_check() {
    let charges = Charges::default();
    let test = TestServer::new(server(&charges));
    let task = test.call("forgetful", json!({})).await;
    task.answer("sure", true).await;
    assert_eq!(task.end().await.structured(), json!([1, 2]));
    replay_check(server(&charges), &task.recording().await).await;
}

/// Waits for a person, but not for long.
#[mcp_tool(task = "required")]
async fn impatient(ctx: &mut Ctx<Charges>) -> Result<bool> {
    let minute = Duration::from_mins(1);
    let sure: Result<bool> = ctx.input("Sure?").timeout(minute).key("sure").await;
    Ok(sure.unwrap_or(false))
}

/// Pauses before it goes on, and between its attempts.
#[mcp_tool(task = "required")]
async fn patient(ctx: &mut Ctx<Charges>) -> Result<u32> {
    ctx.sleep(Duration::from_mins(1)).await?;
    let charges = ctx.state();
    let policy = ConstantBuilder::new().with_delay(Duration::from_mins(5));
    let attempt = || async {
        match charges.fetch_add(1, Relaxed) {
            2 => Ok(2),
            tried => Err(ToolError::new(format!("attempt {tried}"))),
        }
    };
    ctx.step_retry("try", policy, attempt).await
}

/// Answers in the call.
#[mcp_tool]
async fn price(_ctx: &mut Ctx<Charges>, tea: String) -> usize {
    tea.len()
}

/// Asks about each name, in the order of the set.
#[mcp_tool(task = "required", allow(unordered_loop))]
async fn invite(ctx: &mut Ctx<Charges>, names: HashSet<String>) -> Result<u32> {
    ctx.state().fetch_add(1, Relaxed);
    let mut invited = 0;
    for name in &names {
        // In a variable, so that only a check of the texts can tell.
        let prompt = format!("Invite {name}?");
        let sure: bool = ctx.input(prompt).await?;
        invited += u32::from(sure);
    }
    Ok(invited)
}

/// A run of `invite` in which everybody is invited.
async fn invited(server: &TestServer, names: &[String]) -> Recording {
    let task = server.call("invite", json!({ "names": names })).await;
    for n in 1..=names.len() {
        let key = if n == 1 {
            "sure".into()
        } else {
            format!("sure#{n}")
        };
        task.answer(&key, true).await;
    }
    assert_eq!(task.end().await.structured(), names.len());
    task.recording().await
}

#[tokio::test]
#[should_panic(expected = "the question `sure")]
async fn another_text_of_a_question_is_found_by_the_replay_check() {
    let charges = Charges::default();
    let names: Vec<String> = (0..20).map(|n| format!("guest {n}")).collect();
    let recording = invited(&TestServer::new(server(&charges)), &names).await;
    replay_check(server(&charges), &recording).await;
}

#[tokio::test]
async fn the_replay_check_decodes_the_arguments_of_a_short_run_often_enough_for_a_map() {
    let charges = Charges::default();
    let recording = invited(&TestServer::new(server(&charges)), &[]).await;
    assert!(recording.is_empty());
    charges.store(0, Relaxed);
    replay_check(server(&charges), &recording).await;
    assert_eq!(charges.load(Relaxed), 8);
}

#[tokio::test]
async fn a_run_with_a_question_that_nobody_answered_can_be_replayed() {
    let charges = Charges::default();
    let test = TestServer::new(server(&charges));
    let task = test.call("impatient", json!({})).await;
    task.asks("sure").await;
    test.advance(Duration::from_secs(61)).await;
    assert_eq!(task.end().await.structured(), false);
    replay_check(server(&charges), &task.recording().await).await;
}

#[tokio::test]
async fn the_clock_stops_wherever_something_is_due() {
    let charges = Charges::default();
    let test = TestServer::new(server(&charges));
    let task = test.call("patient", json!({})).await;
    test.advance(Duration::from_mins(12)).await;
    assert_eq!(task.end().await.structured(), 2);
}

#[tokio::test]
async fn a_tool_that_answers_in_the_call_can_be_called() {
    let test = TestServer::new(server(&Charges::default()));
    let ended = test.call_directly("price", json!({ "tea": "Assam" })).await;
    assert_eq!(ended.structured(), 5);
}

#[tokio::test]
#[should_panic(
    expected = "waited for the question `suree`, but the task waits for the answer to `sure`"
)]
async fn a_question_that_cannot_come_is_told_at_once() {
    let test = TestServer::new(server(&Charges::default()));
    let task = test.call("impatient", json!({})).await;
    task.answer("suree", true).await;
}

#[tokio::test]
async fn a_step_that_must_not_happen_twice_is_unknown_after_a_crash() {
    let charges = Charges::default();
    let server = TestServer::new(server(&charges));
    let task = server.call("pay_at_most_once", json!({})).await;
    server.settle().await;
    assert_eq!(charges.load(Relaxed), 1);
    server.crash().await;
    assert_eq!(task.end().await.text(), "unknown");
    assert_eq!(charges.load(Relaxed), 1);
}
