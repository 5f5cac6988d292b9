//! What the body of a tool can do.

mod detach;
mod handle;
mod part;
mod retry;
mod sleep;
mod step;
mod taken;
mod values;

use std::{
    fmt::{self, Display},
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use backon::BackoffBuilder;
use serde_json::Value;
use uuid::Uuid;

pub(crate) use self::taken::Ticket;
pub use self::{
    detach::Detaching,
    handle::Handle,
    part::{InPart, Part, part},
    sleep::Sleeping,
    step::{Journaled, Step, StepOutcome, step_block, step_result},
    taken::{Context, ContextIn, NoState, Serves, context, context_in},
};
use crate::{
    Result,
    engine::leg::{Entered, Fault, Leg, Operation},
    host::Timestamp,
    input::{Input, Inputs, Prompts, Question, Questions, Unnamed},
    journal::{Entry, Kind},
    nesting::is_too_deep,
    record::{Client, TaskId, Ttl},
};

/// The context of a call: asks, runs steps, tells how it goes.
///
/// A tool takes it as `&mut Ctx`, or as `&mut Ctx<App>` where the server has a state of type `App`.
/// It is exclusive on purpose: two operations cannot be in flight at once, and none can be moved
/// into a step or a spawned task, so the order of operations is the order of the code, and a replay
/// meets them in the same order.
///
/// ```
/// use siding::prelude::*;
///
/// # async fn charge(_: &str) -> Result<String> { Ok("r-1".into()) }
/// /// Charges a card after the person agreed.
/// #[mcp_tool(task = "required")]
/// async fn pay(ctx: &mut Ctx, card: String) -> Result<String> {
///     let sure: bool = ctx.input("Charge 20 EUR?").await?;
///     if !sure {
///         return Err(ToolError::new("not charged"));
///     }
///     ctx.status("charging");
///     let receipt = ctx.step("charge", charge(&card)).await?;
///     Ok(receipt)
/// }
/// ```
pub struct Ctx<S: ?Sized = NoState> {
    leg: Arc<Leg>,
    /// What a context with a state has beside one without.
    stateful: Option<(Box<Ctx>, Arc<S>)>,
}

impl<S: ?Sized> Ctx<S> {
    /// Asks the person for a `T` and parks until the answer is there. For clients before 2026-07-28,
    /// which are asked while their call waits, it waits instead.
    ///
    /// The type comes from where the answer goes. The question gets its name from the binding that
    /// the answer goes to, or from [`key`](Question::key); without a name it is no future. A parked
    /// call holds nothing but a record in the store.
    ///
    /// # Errors
    ///
    /// Awaiting it is an `Err` where the person declined or closed the form, where nobody answered
    /// before a [`timeout`](Question::timeout), and where this client cannot be asked ([`ToolError::is_cannot_ask`](crate::ToolError::is_cannot_ask)).
    pub fn input<'a, T: Input + 'a>(
        &'a mut self,
        prompt: impl Into<String>,
    ) -> Question<'a, T, Unnamed> {
        Question::of(self.leg.clone(), prompt.into())
    }

    /// Asks the person to choose one of `options`, which are known only now, and parks until they
    /// did. They are shown by their `Display`.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn healthy() -> Result<Vec<String>> { Ok(vec!["a".into()]) }
    /// /// Drains a host.
    /// #[mcp_tool(task = "required")]
    /// async fn drain(ctx: &mut Ctx) -> Result<String> {
    ///     let hosts = ctx.step("hosts", healthy()).await?;
    ///     let host = ctx.choose("Which host?", &hosts).await?;
    ///     Ok(format!("draining {host}"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`input`](Self::input), and where there is nothing to choose from.
    pub fn choose<'a, T: Display + Send + 'a>(
        &'a mut self,
        prompt: impl Into<String>,
        options: impl IntoIterator<Item = T>,
    ) -> Question<'a, T, Unnamed> {
        Question::choice(self.leg.clone(), prompt.into(), options)
    }

    /// Sends the person to `url`, for what must not pass through the client, and parks until they
    /// agreed to go there. What they do there is told by the other side, not here.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Connects an account.
    /// #[mcp_tool(task = "required")]
    /// async fn connect(ctx: &mut Ctx) -> Result<String> {
    ///     ctx.input_url("Sign in", "https://example.com/sign-in").key("sign-in").await?;
    ///     Ok("connected".into())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`input`](Self::input); a client that did not declare the URL mode cannot ask.
    pub fn input_url(
        &mut self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Question<'_, (), Unnamed> {
        Question::url(self.leg.clone(), message.into(), url.into())
    }

    /// Asks several questions at once and parks until all are answered.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Books a table.
    /// #[mcp_tool(task = "required")]
    /// async fn book(ctx: &mut Ctx) -> Result<String> {
    ///     let (name, guests): (String, u8) = ctx.input_all(("Your name?", "How many?")).await?;
    ///     Ok(format!("{name}, table for {guests}"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Awaiting it is the `Err` of the first question in the order of the tuple that was declined
    /// or closed.
    pub fn input_all<T: Inputs>(&mut self, prompts: impl Prompts<T>) -> Questions<'_, T> {
        Questions::new(self.leg.clone(), prompts.texts())
    }

    /// Runs a side effect once and journals how it ended.
    ///
    /// The future is polled only where the journal has no outcome yet; in later legs it is dropped
    /// unpolled and the journaled outcome comes back. `Ok` and `Err` are journaled alike. The value
    /// is always the one decoded from the journal, so that the first run and a replay see the same.
    /// A crash between the effect and the journal runs it again: let the other side recognise it.
    ///
    /// An `async` block that is written in the call needs no type for `?`; a future made elsewhere
    /// returns a `Result` or ends in [`siding::Ok`](crate::Ok).
    ///
    /// # Errors
    ///
    /// The error of the future, as a [`ToolError`](crate::ToolError). An error of its own if the value
    /// does not come back from JSON as it was: `f64::NAN` and `Some(())` do not.
    pub fn step<'a, F>(
        &'a mut self,
        name: impl Into<String>,
        future: F,
    ) -> Step<'a, <F::Output as StepOutcome>::Value>
    where
        F: Future + Send + 'a,
        F::Output: StepOutcome,
        <F::Output as StepOutcome>::Value: Journaled,
    {
        Step::new(self.leg.clone(), Kind::Step, name.into(), future)
    }

    /// Runs a side effect until it goes well or `policy` gives up, and journals the last outcome.
    ///
    /// ```
    /// use siding::{prelude::*, retry::ExponentialBuilder};
    ///
    /// # async fn fetch(_: &str) -> Result<String> { Ok("page".into()) }
    /// /// Fetches a page, patiently.
    /// #[mcp_tool(task = "required")]
    /// async fn page(ctx: &mut Ctx, url: String) -> Result<String> {
    ///     let policy = ExponentialBuilder::new().with_max_times(5);
    ///     let page = ctx.step_retry("fetch", policy, || fetch(&url)).await?;
    ///     Ok(page)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last attempt, as a [`ToolError`](crate::ToolError).
    pub fn step_retry<'a, F>(
        &'a mut self,
        name: impl Into<String>,
        policy: impl BackoffBuilder<Backoff: Send> + 'a,
        attempt: impl FnMut() -> F + Send + 'a,
    ) -> Step<'a, <F::Output as StepOutcome>::Value>
    where
        F: Future + Send + 'a,
        F::Output: StepOutcome + Send,
        <F::Output as StepOutcome>::Value: Journaled,
    {
        let attempts = retry::retried(self.leg.clone(), policy, attempt);
        Step::new(self.leg.clone(), Kind::Step, name.into(), attempts)
    }

    /// Runs a side effect for each item, all at once, and journals each outcome as it comes. Gives
    /// the values in the order of the items; after a crash only members without an outcome run
    /// again.
    ///
    /// The items must be the same, in the same order, in every leg.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn drain(host: String) -> Result<u32> { Ok(host.len() as u32) }
    /// /// Drains all hosts.
    /// #[mcp_tool(task = "required")]
    /// async fn drain_all(ctx: &mut Ctx, hosts: Vec<String>) -> Result<u32> {
    ///     let drained = ctx.step_all("drain", hosts, drain).await?;
    ///     Ok(drained.into_iter().sum())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// When all have ended, the error of the first in the order of the items that failed.
    pub async fn step_all<I, F>(
        &mut self,
        name: impl Into<String>,
        items: impl IntoIterator<Item = I>,
        run: impl Fn(I) -> F,
    ) -> Result<Vec<<F::Output as StepOutcome>::Value>>
    where
        F: Future,
        F::Output: StepOutcome,
        <F::Output as StepOutcome>::Value: Journaled,
    {
        let items = items.into_iter().collect();
        retry::all(self.leg.clone(), name.into(), items, run).await
    }

    /// Undoes something: a step that also runs after the task was cancelled or its time was over.
    ///
    /// A cancelled task is over for its client at once. If the tool may clean up, here or in a
    /// function that it gives its context to, one more leg follows: what the journal has comes
    /// back; from the first operation without an entry on, every step, question and sleep is an
    /// `Err` that [`is_cancelled`](crate::ToolError::is_cancelled), and only `cleanup` runs.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn reserve() -> Result<u32> { Ok(1) }
    /// # async fn release(_: u32) -> Result<()> { Ok(()) }
    /// /// Holds a seat while a person decides.
    /// #[mcp_tool(task = "required")]
    /// async fn book(ctx: &mut Ctx) -> Result<String> {
    ///     let seat = ctx.step("reserve", reserve()).await?;
    ///     let sure: Result<bool> = ctx.input("Take it?").key("sure").await;
    ///     if let Ok(true) = sure {
    ///         return Ok(format!("seat {seat}"));
    ///     }
    ///     ctx.cleanup("release", release(seat)).await?;
    ///     Err(ToolError::new("not booked"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the future, as a [`ToolError`](crate::ToolError).
    pub fn cleanup<'a, F>(
        &'a mut self,
        name: impl Into<String>,
        future: F,
    ) -> Step<'a, <F::Output as StepOutcome>::Value>
    where
        F: Future + Send + 'a,
        F::Output: StepOutcome,
        <F::Output as StepOutcome>::Value: Journaled,
    {
        Step::new(self.leg.clone(), Kind::Cleanup, name.into(), future)
    }

    /// Makes the call a task from here on, in a tool with `detach = "manual"`: its client gets a
    /// handle for it at once, and what was asked before goes along. For a client without tasks, and
    /// where the call is a task already, it does nothing.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn build(_: &str) -> Result<String> { Ok("image-1".into()) }
    /// /// Asks while somebody waits, then builds while nobody has to.
    /// #[mcp_tool(task = "optional", detach = "manual")]
    /// async fn release(ctx: &mut Ctx) -> Result<String> {
    ///     let branch: String = ctx.input("Which branch?").await?;
    ///     ctx.detach().await?;
    ///     ctx.step("build", build(&branch)).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Where there are too many tasks, or the store failed: the call is still one then, and can go
    /// on as one. Where its client has left, and nobody would hear of the task.
    pub fn detach(&mut self) -> Detaching<'_> {
        Detaching::new(self.leg.clone())
    }

    /// Sleeps. A task parks meanwhile and holds nothing; a call waits.
    ///
    /// # Errors
    ///
    /// Only where the task was cancelled, in its closing leg.
    pub fn sleep(&mut self, pause: Duration) -> Sleeping<'_> {
        Sleeping::new(self.leg.clone(), pause)
    }

    /// The time, the same in every leg.
    pub fn now(&mut self) -> Timestamp {
        let now = self.leg.host.now();
        let entered = self.leg.enter(Operation {
            kind: Kind::Now,
            name: "now",
            was: &[],
            place: None,
        });
        match entered {
            Entered::Live(key) => {
                self.leg.note(Entry::now(&key, now));
                now
            }
            Entered::Replayed(entry) => entry.tells().unwrap_or(now),
            Entered::Closed(_) | Entered::Stopped => now,
        }
    }

    /// A UUID, the same in every leg: hashed from a random seed of the call and `key`. A key that
    /// repeats gives another one each time.
    pub fn uuid(&mut self, key: &str) -> Uuid {
        let bits = self.value("uuid", key);
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }

    /// A random number, the same in every leg: hashed like [`uuid`](Self::uuid).
    pub fn random(&mut self, key: &str) -> u64 {
        (self.value("random", key) >> 64) as u64
    }

    fn value(&mut self, purpose: &'static str, key: &str) -> u128 {
        let key = self.leg.numbered(purpose, key);
        values::bits(&self.leg.origin.seed, purpose, &key)
    }

    /// A key by which the other side of a step can tell a second attempt from a second wish. It
    /// belongs to the next step or cleanup called `name`: the same in every leg and every attempt,
    /// another one for the next step of this name, and another one in every other call.
    ///
    /// In a loop each round has its own key. If the rounds are attempts at the same thing, take the
    /// key before the loop, or use [`step_retry`](Self::step_retry).
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn charge(_: &str, _: &str) -> Result<String> { Ok("r-1".into()) }
    /// /// Charges once, whatever happens.
    /// #[mcp_tool(task = "required")]
    /// async fn pay(ctx: &mut Ctx, card: String) -> Result<String> {
    ///     let once = ctx.idempotency_key("charge");
    ///     ctx.step("charge", charge(&card, &once)).await
    /// }
    /// ```
    pub fn idempotency_key(&self, name: &str) -> String {
        let key = self.leg.next_step(name);
        let bits = values::bits(&self.leg.origin.seed, "idempotency", &key);
        format!("{bits:032x}")
    }

    /// Tells how it goes: the `statusMessage` of the task, which a person or a model may see. In a call
    /// it is shown once that has become a task. Does nothing while the call replays.
    pub fn status(&mut self, message: impl Into<String>) {
        self.leg.tell(|told| told.status = Some(message.into()));
    }

    /// Tells how far it is: as a progress notification to a client that wants to hear it while it waits
    /// for its call, as the `statusMessage` of a task. Does nothing while the call replays.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// # async fn copy_one(_: &str) -> Result<u64> { Ok(1) }
    /// /// Copies files.
    /// #[mcp_tool(task = "optional")]
    /// async fn copy(ctx: &mut Ctx, files: Vec<String>) -> Result<u64> {
    ///     let mut bytes = 0;
    ///     for (done, file) in files.iter().enumerate() {
    ///         ctx.progress(done as u64, files.len() as u64);
    ///         bytes += ctx.step(format!("copy {done}"), copy_one(file)).await?;
    ///     }
    ///     Ok(bytes)
    /// }
    /// ```
    pub fn progress(&mut self, done: u64, total: u64) {
        self.leg.progress(done, total);
    }

    /// Sets the time to live of the task, counted from its creation; `None` is without end. One
    /// that is over already ends the task.
    pub fn set_ttl(&mut self, ttl: Option<Duration>) {
        self.leg.tell(|told| told.ttl = Some(Ttl::from(ttl)));
    }

    /// Sets a member of the `_meta` that every view of the task has.
    pub fn set_meta(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let value = value.into();
        if is_too_deep(&value) {
            let text = "the `_meta` of the task has too many lists and objects within each other";
            return self.leg.stop(Fault::OverLimit(text.into()));
        }
        self.leg.tell(|told| {
            told.meta.insert(key.into(), value);
        });
    }

    /// A view of the call for steps and spawned work.
    pub fn handle(&self) -> Handle {
        Handle::new(self.leg.clone())
    }

    /// Whether the call was cancelled. A task that was cancelled is over for its client; what it
    /// still does is for its own sake.
    pub fn is_cancelled(&self) -> bool {
        self.leg.cancelled.is_cancelled()
    }

    /// Ready when the call is cancelled.
    pub async fn cancelled(&self) {
        self.leg.cancelled.cancelled().await;
    }

    /// The id of the task; `None` in a call that is none.
    pub fn task_id(&self) -> Option<&TaskId> {
        self.leg.task_id()
    }

    /// The id of the call, the same in every leg; that of the task where it is one.
    pub fn call_id(&self) -> &TaskId {
        &self.leg.origin.id
    }

    /// Whose call it is, as [`Server::owner`](crate::Server::owner) found when it came in; the same
    /// in every leg.
    pub fn owner(&self) -> Option<&str> {
        self.leg.origin.owner.as_deref()
    }

    /// The client, as the request that began the call described it.
    pub fn client(&self) -> &Client {
        &self.leg.origin.client
    }
}

impl<S: ?Sized> Ctx<S> {
    /// The state of the server.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// struct App { region: String }
    ///
    /// /// Tells the region.
    /// #[mcp_tool]
    /// async fn region(ctx: &mut Ctx<App>) -> String {
    ///     ctx.state().region.clone()
    /// }
    ///
    /// let app = App { region: "eu-west-1".into() };
    /// let server = Server::new("where", "1.0.0").state(app).tool::<region>();
    /// # let _ = server;
    /// ```
    ///
    /// # Panics
    ///
    /// Never: a context with a state is made with it.
    pub fn state(&self) -> Arc<S>
    where
        S: Stateful,
    {
        let (_, state) = self.stateful.as_ref().expect("made with a state");
        state.clone()
    }
}

/// A state that a context gives.
#[diagnostic::on_unimplemented(
    message = "this context has no state; take it as `ctx: &mut Ctx<App>`, and give the server `.state(app)`"
)]
pub trait Stateful {}

#[diagnostic::do_not_recommend]
impl<S> Stateful for S {}

/// A helper that takes `&mut Ctx` takes the context of any tool.
impl<S> Deref for Ctx<S> {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        let (plain, _) = self.stateful.as_ref().expect("made with a state");
        plain
    }
}

impl<S> DerefMut for Ctx<S> {
    fn deref_mut(&mut self) -> &mut Ctx {
        let (plain, _) = self.stateful.as_mut().expect("made with a state");
        plain
    }
}

impl<S: ?Sized> fmt::Debug for Ctx<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("tool", &self.leg.origin.tool)
            .field("task_id", &self.leg.origin.id)
            .finish_non_exhaustive()
    }
}
