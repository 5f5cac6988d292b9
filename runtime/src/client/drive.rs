//! A call from its beginning to its end, and all that can end it before.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    Call, CallError, Event, Question,
    answers::Response,
    call::Target,
    connection::Connection,
    request::Reply,
    work::{On, Work},
};
use crate::host::Timestamp;

/// One call that runs.
#[derive(Debug)]
pub(super) struct Drive {
    pub(super) connection: Arc<Connection>,
    pub(super) work: Work,
    events: mpsc::Sender<Event>,
    /// What the server names when it tells of progress: one for each request of this call.
    tokens: Mutex<Vec<ProgressToken>>,
}

impl Drive {
    pub(super) fn new(connection: Arc<Connection>, events: mpsc::Sender<Event>) -> Self {
        Self {
            work: Work::new(connection.clone()),
            connection,
            events,
            tokens: Mutex::default(),
        }
    }

    /// Runs `call` and tells its events, the last one included.
    pub(super) fn run(
        self,
        call: Call,
    ) -> impl Future<Output = Result<(), CallError>> + Send + use<> {
        // Counted from here, not from the first poll.
        let start = self.connection.host.now();
        let deadline = call.timeout.map(|timeout| start.after(timeout));
        let progress = self.connection.progress();
        self.run_until(call, deadline, progress)
    }

    async fn run_until(
        self,
        call: Call,
        deadline: Option<Timestamp>,
        mut progress: broadcast::Receiver<ProgressNotificationParam>,
    ) -> Result<(), CallError> {
        if let Target::Task(id) = &call.target {
            self.work.begins(On::Task(id.clone()));
        }
        let was_cancelled = call
            .token
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled);
        let ended = if was_cancelled {
            Ok(None)
        } else {
            tokio::select! {
                // Progress is told before the end that came after it, and what has ended did not time out.
                biased;
                never = self.tell(&mut progress) => match never {},
                ended = self.drive(call.target) => ended.map(Some),
                () = cancelled(call.token) => Ok(None),
                () = self.connection.host.reached(deadline) => Err(CallError::TimedOut { id: self.work.task() }),
            }
        };
        let id = self.work.task();
        self.work.give_up().await;
        let last = ended?;
        while let Ok(notification) = progress.try_recv() {
            self.tell_one(notification).await;
        }
        self.emit(last.unwrap_or(Event::Cancelled { id })).await;
        Ok(())
    }

    /// The call itself; gives the last event.
    async fn drive(&self, target: Target) -> Result<Event, CallError> {
        match target {
            Target::Tool(params) => match self.request(params).await? {
                Reply::Result(result) => Ok(Event::Result(result)),
                Reply::Task(task) => {
                    self.emit(Event::Created(task.clone())).await;
                    let result = self.follow(task.task_id.clone(), Some(task)).await;
                    result.map(Event::Completed)
                }
            },
            Target::Task(id) => self.follow(id, None).await.map(Event::Completed),
            Target::Unfit(why) => Err(CallError::Arguments { why }),
        }
    }

    pub(super) async fn emit(&self, event: Event) {
        // Where nobody listens, this is dropped at its next wait.
        let _heard = self.events.send(event).await;
    }

    /// Progress with this token is of this call.
    pub(super) fn follows(&self, token: ProgressToken) {
        self.tokens().push(token);
    }

    /// Puts a question to whoever answers here.
    pub(super) async fn ask(&self, question: Question) -> Result<Response, CallError> {
        let respondent = &*self.connection.respondent;
        let question = question.put_to(respondent)?;
        self.emit(Event::Asked(question.clone())).await;
        let answer = respondent.respond(&question).await;
        Response::of(answer).ok_or_else(|| question.unanswerable())
    }

    /// Tells of progress for as long as it is polled.
    async fn tell(
        &self,
        progress: &mut broadcast::Receiver<ProgressNotificationParam>,
    ) -> Infallible {
        loop {
            match progress.recv().await {
                Ok(notification) => self.tell_one(notification).await,
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "progress came faster than it was read");
                }
                // There will be no more of it, but the call goes on.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    async fn tell_one(&self, notification: ProgressNotificationParam) {
        if self.tokens().contains(&notification.progress_token) {
            self.emit(Event::Progress(notification.into())).await;
        }
    }

    fn tokens(&self) -> MutexGuard<'_, Vec<ProgressToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn cancelled(token: Option<CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}
