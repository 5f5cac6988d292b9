//! One question: from `ctx.input(..)` to its answer.

use std::{
    fmt::{self, Display},
    future::Future,
    marker::PhantomData,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use super::{
    Form, Input, Prefill,
    form::Ask,
    wait::{Given, Wait, read},
};
use crate::{Result, engine::leg::Leg};

/// Reads what came back: the outer `Err` is what is wrong with it.
type Read<'a, T> = Box<dyn FnOnce(Given) -> Result<Result<T>, String> + Send + 'a>;

/// A place in the code where a call may park: the name of the question there, and where it stands.
///
/// `#[mcp_tool]` writes one behind every `ctx.input(..)`; programs do not make them.
#[derive(Debug)]
pub struct Point {
    pub(crate) key: &'static str,
    pub(crate) location: &'static Location<'static>,
    /// The digest of the words of the question, if the macro knows them.
    pub(crate) template: Option<u64>,
}

impl Point {
    /// The point called `key`, at the caller's place. An empty key is computed by `.key(..)`.
    #[track_caller]
    pub const fn new(key: &'static str) -> Self {
        Self {
            key,
            location: Location::caller(),
            template: None,
        }
    }

    /// A question in the words that have this digest.
    pub const fn worded(mut self, template: u64) -> Self {
        self.template = Some(template);
        self
    }
}

/// The state of a [`Question`] that has no name yet.
#[derive(Debug)]
pub struct Unnamed(());

/// The state of a [`Question`] that has a name.
#[derive(Debug)]
pub struct Named {
    pub(super) key: String,
    pub(super) location: Option<&'static Location<'static>>,
}

impl Named {
    pub(super) fn at(point: &'static Point) -> Self {
        Self {
            key: point.key.into(),
            location: Some(point.location),
        }
    }
}

/// Whether a question has a name, so that it can be awaited.
#[diagnostic::on_unimplemented(
    message = "this question has no name to keep its answer under",
    label = "no attribute saw this call, so it cannot park here",
    note = "put `#[mcp_part]` above the function that asks, or name it: `ctx.input(..).key(\"name\")`"
)]
pub trait Placed: Unpin {
    #[doc(hidden)]
    fn name(&self) -> &Named;
}

impl Placed for Named {
    fn name(&self) -> &Named {
        self
    }
}

/// A question that waits to be awaited: what `ctx.input(..)`, `ctx.choose(..)` and
/// `ctx.input_url(..)` give.
///
/// Awaiting it gives the answer, or an `Err` where the person declined
/// ([`is_declined`](crate::ToolError::is_declined)) or closed the form
/// ([`is_dismissed`](crate::ToolError::is_dismissed)).
#[must_use = "a question is asked when it is awaited"]
pub struct Question<'a, T, N = Named> {
    wait: Wait,
    name: N,
    /// Absent once the answer was read.
    read: Option<Read<'a, T>>,
    /// The context is borrowed until there is an answer.
    context: PhantomData<&'a mut ()>,
}

impl<'a, T> Question<'a, T, Unnamed> {
    fn new(wait: Wait, read: impl FnOnce(Given) -> Result<Result<T>, String> + Send + 'a) -> Self {
        Self {
            wait,
            name: Unnamed(()),
            read: Some(Box::new(read)),
            context: PhantomData,
        }
    }

    pub(crate) fn of(leg: Arc<Leg>, message: String) -> Self
    where
        T: Input + 'a,
    {
        Self::new(Wait::new(leg, Ask::form(message, T::form())), read::<T>)
    }

    pub(crate) fn choice(
        leg: Arc<Leg>,
        message: String,
        options: impl IntoIterator<Item = T>,
    ) -> Self
    where
        T: Display + Send + 'a,
    {
        let labelled = options
            .into_iter()
            .map(|option| (option.to_string(), option));
        let options: Vec<(String, T)> = labelled.collect();
        let form = Form::choice(options.iter().map(|(label, _)| label));
        let mut wait = Wait::new(leg, Ask::form(message, form));
        if options.is_empty() {
            wait.refuse("has no options to choose from");
        }
        Self::new(wait, |given| {
            let chosen = match read::<String>(given)? {
                Ok(chosen) => chosen,
                Err(error) => return Ok(Err(error)),
            };
            let mut options = options.into_iter();
            match options.find(|(label, _)| *label == chosen) {
                Some((_, option)) => Ok(Ok(option)),
                None => Err(format!("`{chosen}` is none of the options")),
            }
        })
    }

    /// Names the question by the point that the macro wrote.
    #[doc(hidden)]
    pub fn at(mut self, point: &'static Point) -> Question<'a, T> {
        self.wait.worded(point.template);
        self.named(Named::at(point))
    }
}

impl Question<'_, (), Unnamed> {
    pub(crate) fn url(leg: Arc<Leg>, message: String, url: String) -> Self {
        Self::new(Wait::new(leg, Ask::url(message, url)), |given| {
            Ok(given.map(drop))
        })
    }
}

impl<'a, T, N> Question<'a, T, N> {
    /// Names the question: its key on the wire and in the journal, stable across deploys.
    ///
    /// A loop over unordered items needs the item in the name. `#` and `/` are kept for the
    /// runtime: where a name was used before in the execution, `#2`, `#3`, .. is appended.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Asks about every host.
    /// #[mcp_tool(task = "required")]
    /// async fn drain(ctx: &mut Ctx, hosts: Vec<String>) -> Result<u32> {
    ///     let mut drained = 0;
    ///     for host in hosts {
    ///         let sure: bool = ctx.input(format!("Drain {host}?")).key(format!("drain-{host}")).await?;
    ///         drained += u32::from(sure);
    ///     }
    ///     Ok(drained)
    /// }
    /// ```
    pub fn key(self, key: impl Into<String>) -> Question<'a, T> {
        self.named(Named {
            key: key.into(),
            location: None,
        })
    }

    /// Accepts an entry that the journal has under a former name, so that tasks which were asked
    /// before the name changed go on.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Asked for a `place` once.
    /// #[mcp_tool(task = "required")]
    /// async fn deploy(ctx: &mut Ctx) -> Result<String> {
    ///     let region: String = ctx.input("Which region?").was("place").await?;
    ///     Ok(region)
    /// }
    /// ```
    pub fn was(mut self, former: impl Into<String>) -> Self {
        self.wait.was(former.into());
        self
    }

    /// Lets the text be another one when the call resumes, and takes the answer to the first.
    ///
    /// A text that is filled in differently in a later leg ends the call otherwise: what the person
    /// agreed to would not be what the code goes on with. A question in other words, after a change
    /// of the code, needs no permission.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Takes an order at the price of the day.
    /// #[mcp_tool(task = "required")]
    /// async fn order(ctx: &mut Ctx<u32>) -> Result<bool> {
    ///     let price = *ctx.state();
    ///     let sure: bool = ctx.input(format!("About {price} EUR?")).text_may_differ().await?;
    ///     Ok(sure)
    /// }
    /// ```
    pub fn text_may_differ(mut self) -> Self {
        self.wait.text_may_differ();
        self
    }

    /// Gives `None` where the person declines.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Takes a note, if there is one.
    /// #[mcp_tool(task = "required")]
    /// async fn close(ctx: &mut Ctx) -> Result<String> {
    ///     let note: Option<String> = ctx.input("A note?").optional().await?;
    ///     Ok(note.unwrap_or_default())
    /// }
    /// ```
    pub fn optional(self) -> Question<'a, Option<T>, N>
    where
        T: 'a,
    {
        let read = self.read.map(|read| -> Read<'a, Option<T>> {
            Box::new(|given| match given {
                Err(error) if error.is_declined() => Ok(Ok(None)),
                given => Ok(read(given)?.map(Some)),
            })
        });
        Question {
            wait: self.wait,
            name: self.name,
            read,
            context: PhantomData,
        }
    }

    /// Fills in the form beforehand: the person may leave it so, or change it.
    ///
    /// It takes a value of the answer's type, a string literal for a `String`, or a bare value for
    /// an `Option`.
    ///
    /// ```
    /// use siding::prelude::*;
    ///
    /// /// Books a table.
    /// #[mcp_tool(task = "required")]
    /// async fn book(ctx: &mut Ctx) -> Result<u8> {
    ///     let guests: u8 = ctx.input("How many guests?").prefill(2).await?;
    ///     Ok(guests)
    /// }
    /// ```
    pub fn prefill<V: Prefill<T>>(mut self, value: V) -> Self {
        value.prefill(self.wait.form());
        self
    }

    /// Gives up the question after `duration`, with an `Err` that
    /// [`is_timed_out`](crate::ToolError::is_timed_out).
    ///
    /// A task whose time to live is over first is gone, and the timeout with it: keep the `ttl` of the
    /// tool (an hour, unless it says otherwise) above it.
    ///
    /// ```
    /// use siding::prelude::*;
    /// use std::time::Duration;
    ///
    /// /// Deploys, unless somebody objects within an hour.
    /// #[mcp_tool(task = "required", ttl = "2h")]
    /// async fn deploy(ctx: &mut Ctx) -> Result<String> {
    ///     let hour = Duration::from_hours(1);
    ///     let objection: Result<String> = ctx.input("Why not?").timeout(hour).key("why-not").await;
    ///     match objection {
    ///         Ok(why) => Err(ToolError::new(why)),
    ///         Err(error) if error.is_timed_out() => Ok("deployed".into()),
    ///         Err(error) => Err(error),
    ///     }
    /// }
    /// ```
    pub fn timeout(mut self, duration: Duration) -> Self {
        self.wait.give_up_after(duration);
        self
    }

    fn named(self, name: Named) -> Question<'a, T> {
        Question {
            wait: self.wait,
            name,
            read: self.read,
            context: PhantomData,
        }
    }
}

impl<T, N: Placed> Future for Question<'_, T, N> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Poll::Ready(answer) = this.wait.advance(this.name.name(), cx) else {
            return Poll::Pending;
        };
        match (answer, this.read.take()) {
            (Err(error), _) => Poll::Ready(Err(error)),
            (Ok(answer), Some(read)) => {
                let value = this.wait.value(answer, read);
                value.map_or(Poll::Pending, Poll::Ready)
            }
            (Ok(_), None) => Poll::Pending,
        }
    }
}

impl<T, N: fmt::Debug> fmt::Debug for Question<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("wait", &self.wait)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
