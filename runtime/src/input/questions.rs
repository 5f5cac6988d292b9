//! Several questions outstanding at once: `ctx.input_all`.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    Input, Point,
    form::{Answer, Ask, Form},
    question::Named,
    wait::{Wait, read},
};
use crate::{Result, engine::leg::Leg};

/// Stands for the answers to come, and for the context that is borrowed until then.
type AnswerOf<'a, T> = PhantomData<(&'a mut (), fn() -> T)>;

/// The answers of `ctx.input_all`: a tuple of two to eight answers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of answers",
    label = "`ctx.input_all` answers with a tuple of two to eight values",
    note = "write `let (name, sure): (String, bool) = ctx.input_all((\"Name?\", \"Sure?\")).await?;`"
)]
pub trait Inputs: Sized + Send {
    #[doc(hidden)]
    fn forms() -> Vec<Form>;

    #[doc(hidden)]
    fn read(answers: Vec<Answered<'_>>) -> Option<Result<Self>>;
}

/// The prompts of `ctx.input_all`, one for each answer in `T`.
#[diagnostic::on_unimplemented(
    message = "these prompts do not go with the answers `{T}`",
    label = "give a tuple with one text for each answer"
)]
pub trait Prompts<T> {
    #[doc(hidden)]
    fn texts(self) -> Vec<String>;
}

/// One question of several, with its answer.
#[doc(hidden)]
#[derive(Debug)]
pub struct Answered<'a> {
    wait: &'a Wait,
    answer: Answer,
}

/// Several questions that wait to be named: what `ctx.input_all(..)` gives.
#[must_use = "questions are asked when they are awaited"]
pub struct Questions<'a, T> {
    leg: Arc<Leg>,
    messages: Vec<String>,
    answer: AnswerOf<'a, T>,
}

impl<'a, T: Inputs> Questions<'a, T> {
    pub(crate) const fn new(leg: Arc<Leg>, messages: Vec<String>) -> Self {
        Self {
            leg,
            messages,
            answer: PhantomData,
        }
    }

    /// Names the questions by the points that the macro wrote.
    #[doc(hidden)]
    pub fn at_all(self, points: &'static [Point]) -> AskingAll<'a, T> {
        let asks = self.messages.into_iter().zip(T::forms());
        let waits = points.iter().zip(asks).map(|(point, (message, form))| {
            let mut wait = Wait::new(self.leg.clone(), Ask::form(message, form));
            wait.worded(point.template);
            (wait, Named::at(point))
        });
        AskingAll {
            waits: waits.collect(),
            answers: Vec::new(),
            answer: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Questions<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("messages", &self.messages)
            .finish_non_exhaustive()
    }
}

/// The future of several questions.
#[derive(Debug)]
pub struct AskingAll<'a, T> {
    waits: Vec<(Wait, Named)>,
    answers: Vec<Option<Answer>>,
    answer: AnswerOf<'a, T>,
}

impl<T> AskingAll<'_, T> {
    /// Lets the texts be others when the call resumes, as that of one question may be.
    pub fn text_may_differ(mut self) -> Self {
        for (wait, _) in &mut self.waits {
            wait.text_may_differ();
        }
        self
    }
}

impl<T: Inputs> Future for AskingAll<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.answers.resize(this.waits.len(), None);
        // Every question is reached before any is waited for, so that all are put at once; but to
        // a client that is asked while it waits, one after the other.
        for ((wait, name), answer) in this.waits.iter_mut().zip(&mut this.answers) {
            if answer.is_some() {
                continue;
            }
            match wait.advance(name, cx) {
                Poll::Ready(Ok(given)) => *answer = Some(given),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if wait.is_live() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        let answered = this.waits.iter().zip(&this.answers);
        let answered = answered.map(|((wait, _), answer)| {
            let answer = answer.clone()?;
            Some(Answered { wait, answer })
        });
        let all: Option<Vec<_>> = answered.collect();
        all.and_then(T::read).map_or(Poll::Pending, Poll::Ready)
    }
}

macro_rules! tuples {
    ($($($answer:ident $text:ident),+;)*) => {$(
        impl<$($answer: Input),+> Inputs for ($($answer,)+) {
            fn forms() -> Vec<Form> {
                vec![$($answer::form()),+]
            }

            fn read(answers: Vec<Answered<'_>>) -> Option<Result<Self>> {
                let mut answers = answers.into_iter();
                // All are read before the first refusal is told: each must fit its question.
                $(
                    let answered = answers.next()?;
                    #[expect(non_snake_case, reason = "named like its type")]
                    let $answer = answered.wait.value(answered.answer, read::<$answer>)?;
                )+
                Some((|| Ok(($($answer?,)+)))())
            }
        }

        impl<$($answer,)+ $($text: Into<String>),+> Prompts<($($answer,)+)> for ($($text,)+) {
            fn texts(self) -> Vec<String> {
                #[expect(non_snake_case, reason = "named like its type")]
                let ($($text,)+) = self;
                vec![$($text.into()),+]
            }
        }
    )*};
}

tuples! {
    A P, B Q;
    A P, B Q, C R;
    A P, B Q, C R, D S;
    A P, B Q, C R, D S, E T;
    A P, B Q, C R, D S, E T, F U;
    A P, B Q, C R, D S, E T, F U, G V;
    A P, B Q, C R, D S, E T, F U, G V, H W;
}
