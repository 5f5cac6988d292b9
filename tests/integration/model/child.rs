//! The server that is tormented, and the tool that does what its plan says.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};

use siding::{
    host::{BoxFuture, Host, SystemHost, Timestamp},
    prelude::*,
};

use super::{
    history::{History, Life, Line, What},
    plan::Op,
};

/// Where the tasks are, where everything else is, and which life this is.
pub(super) const DISK: &str = "SIDING_MODEL_DISK";
pub(super) const FOLDER: &str = "SIDING_MODEL_FOLDER";
pub(super) const LIFE: &str = "SIDING_MODEL_LIFE";
pub(super) const CLOCK: &str = "SIDING_MODEL_CLOCK";

/// What the tool needs to know of its server.
pub(super) struct World {
    history: History,
    life: Life,
}

/// The wall clock of one server, which the test sets by a file.
#[derive(Clone, Debug)]
struct SetClock(Arc<AtomicI64>);

impl SetClock {
    /// Follows the file, which has the milliseconds that it is ahead.
    fn following(path: PathBuf) -> Self {
        let ahead = Arc::new(AtomicI64::new(0));
        let read = |path: &Path| fs::read_to_string(path).ok()?.trim().parse().ok();
        ahead.store(read(&path).unwrap_or(0), Relaxed);
        let followed = ahead.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(20));
                if let Some(millis) = read(&path) {
                    followed.store(millis, Relaxed);
                }
            }
        });
        Self(ahead)
    }
}

impl Host for SetClock {
    fn now(&self) -> Timestamp {
        let now = SystemHost.now().as_millis();
        Timestamp::from_millis(now.saturating_add_signed(self.0.load(Relaxed)))
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        Box::pin(async move {
            loop {
                let left = time.since(clock.now());
                if left.is_zero() {
                    return;
                }
                SystemHost.sleep(left.min(Duration::from_millis(50))).await;
            }
        })
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        SystemHost.sleep(pause)
    }

    fn random(&self) -> [u8; 16] {
        SystemHost.random()
    }
}

fn fresh() -> String {
    let [a, b, c, d, ..] = SystemHost.random();
    format!("{:08x}", u32::from_le_bytes([a, b, c, d]))
}

/// One run of the function, as it tells the history of itself.
#[derive(Clone)]
struct Teller {
    world: Arc<World>,
    task: String,
    leg: String,
}

impl Teller {
    fn tell(&self, what: What) {
        self.world.history.add(&Line {
            life: self.world.life,
            task: self.task.clone(),
            leg: self.leg.clone(),
            what,
        });
    }

    fn got(&self, key: &str, value: &str) {
        let (key, value) = (key.into(), value.into());
        self.tell(What::Got { key, value });
    }

    /// An effect of some length, which gives a value of its own each time.
    async fn effect(&self, key: String, once: bool, idempotency: String, millis: u64) -> String {
        self.tell(What::Begin {
            key: key.clone(),
            once,
            idempotency,
        });
        tokio::time::sleep(Duration::from_millis(millis)).await;
        let value = fresh();
        self.tell(What::End {
            key,
            value: value.clone(),
        });
        value
    }
}

type Context = Ctx<Arc<World>>;

/// Does what the plan says.
#[mcp_tool(task = "required", ttl = "400d")]
async fn play(ctx: &mut Context, plan: Vec<Op>) -> Result<String> {
    let teller = Teller {
        world: ctx.state().as_ref().clone(),
        task: ctx.call_id().as_str().into(),
        leg: fresh(),
    };
    teller.tell(What::Leg);
    let mut held = Vec::new();
    for (place, op) in plan.into_iter().enumerate() {
        let key = place.to_string();
        let done = match op {
            Op::Part { millis } => part(ctx, &teller, &key, millis).await,
            op => perform(ctx, &teller, &key, op, &mut held).await,
        };
        match done {
            Err(error) if error.is_cancelled() => break,
            Err(error) if error.is_unknown() => {
                // Somebody has to look. Another way through the code than after a cancel.
                clean_up(ctx, &teller, "check", &key).await?;
            }
            Ok(()) | Err(_) => {}
        }
    }
    while let Some(key) = held.pop() {
        clean_up(ctx, &teller, "undo", &key).await?;
    }
    Ok("played".into())
}

async fn perform(
    ctx: &mut Context,
    teller: &Teller,
    key: &str,
    op: Op,
    held: &mut Vec<String>,
) -> Result<()> {
    match op {
        Op::Step { millis, fails } => step(ctx, teller, "step", key, millis, fails).await,
        Op::Reserve { millis } => {
            step(ctx, teller, "reserve", key, millis, false).await?;
            held.push(key.into());
            Ok(())
        }
        Op::Once { millis } => {
            let idempotency = ctx.idempotency_key(&format!("once {key}"));
            let effect = teller.effect(key.into(), true, idempotency, millis);
            let once = ctx.step("once", async { siding::Ok(effect.await) });
            let value = once.at_most_once().await;
            if let Ok(value) = &value {
                teller.got(key, value);
            }
            value.map(drop)
        }
        Op::All { members, millis } => {
            let idempotency = ctx.idempotency_key(&format!("all {key}"));
            let run = |member: u64| {
                let (teller, key) = (teller.clone(), format!("{key}/{member}"));
                let idempotency = format!("{idempotency}/{member}");
                async move {
                    let value = teller.effect(key, false, idempotency, millis + member * 20);
                    siding::Ok(value.await)
                }
            };
            let values = ctx.step_all("all", 0..members, run).await?;
            for (member, value) in values.iter().enumerate() {
                teller.got(&format!("{key}/{member}"), value);
            }
            Ok(())
        }
        Op::Ask { timeout } => {
            let question = ctx.input::<String>(format!("Say {key}."));
            let question = question.key(format!("ask {key}"));
            let answer = match timeout {
                Some(millis) => question.timeout(Duration::from_millis(millis)).await,
                None => question.await,
            };
            told(teller, key, answer)
        }
        Op::Sleep { millis } => ctx.sleep(Duration::from_millis(millis)).await,
        Op::Part { .. } => Ok(()),
    }
}

/// Asks and acts on behalf of the tool.
#[mcp_part]
async fn part(ctx: &mut Context, teller: &Teller, key: &str, millis: u64) -> Result<()> {
    step(ctx, teller, "step", key, millis, false).await?;
    let answer = ctx
        .input::<String>(format!("Say {key}."))
        .key(format!("ask {key}"))
        .await;
    told(teller, &format!("{key}/answer"), answer)
}

fn told(teller: &Teller, key: &str, answer: Result<String>) -> Result<()> {
    match &answer {
        Ok(answer) => teller.got(key, answer),
        Err(error) if error.is_timed_out() => teller.got(key, "timed out"),
        Err(_) => {}
    }
    answer.map(drop)
}

async fn step(
    ctx: &mut Context,
    teller: &Teller,
    name: &str,
    key: &str,
    millis: u64,
    fails: bool,
) -> Result<()> {
    // What a step was made from is the same in every leg in which it runs.
    let now = ctx.now();
    let idempotency = ctx.idempotency_key(&format!("{name} {key}"));
    let effect = teller.effect(key.into(), false, idempotency, millis);
    let ended = ctx.step(name, async {
        let value = format!("{} at {now}", effect.await);
        if fails {
            return Err(ToolError::new(value));
        }
        Ok(value)
    });
    match ended.await {
        Ok(value) => {
            teller.got(key, &value);
            Ok(())
        }
        Err(error) if error.is_cancelled() || error.is_unknown() => Err(error),
        Err(error) => {
            teller.got(key, &error.to_string());
            Err(error)
        }
    }
}

async fn clean_up(ctx: &mut Context, teller: &Teller, why: &str, key: &str) -> Result<()> {
    let key = format!("{why} {key}");
    let idempotency = ctx.idempotency_key(&key);
    let effect = teller.effect(key.clone(), false, idempotency, 100);
    let value = ctx.cleanup(why, async { siding::Ok(effect.await) }).await?;
    teller.got(&key, &value);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it serves until it is killed"]
async fn the_server_that_is_tormented() {
    let (Ok(disk), Ok(folder), Ok(life), Ok(clock)) = (
        env::var(DISK),
        env::var(FOLDER),
        env::var(LIFE),
        env::var(CLOCK),
    ) else {
        return;
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .init();
    let store = SqliteStore::open(Path::new(&disk).join("tasks.db"));
    let store = store.await.unwrap();
    store.beat_every(Duration::from_millis(100));
    let world = World {
        history: History::new(Path::new(&folder).join("history")),
        life: life.parse().unwrap(),
    };
    let server = Server::new("model", "1.0.0").state(Arc::new(world));
    let server = server.tool::<play>().store(store);
    let server = server.host(SetClock::following(clock.into()));
    server
        .serve(tokio::io::stdin(), tokio::io::stdout())
        .await
        .unwrap();
}
