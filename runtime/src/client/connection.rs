//! One connection to a server, shared by the client and its calls.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ClientHandler,
    model::{
        ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
        ProgressNotificationParam,
    },
    service::{NotificationContext, Peer, RequestContext, RoleClient, RunningService},
};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::answers::{Respondent, Response};
use crate::host::Host;

/// One connection to a server. It is closed when nothing of the client is left.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) host: Arc<dyn Host>,
    pub(super) respondent: Arc<dyn Respondent>,
    inbox: Inbox,
    running: Mutex<Option<RunningService<RoleClient, Inbox>>>,
}

/// What servers send of their own accord, on its way to the calls that it is about.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    config: ClientConfig,
    progress: broadcast::Sender<ProgressNotificationParam>,
    /// The calls that wait for their answer, the latest last.
    waiting: Arc<Mutex<Vec<mpsc::Sender<Live>>>>,
}

/// A question of a server that asks while the call waits, as protocols before 2026-07-28 do.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) key: String,
    pub(super) params: ElicitRequestParams,
    pub(super) reply: oneshot::Sender<Response>,
}

/// A call that hears live questions, for as long as this is kept.
pub(super) struct Hearing {
    questions: mpsc::Receiver<Live>,
    waiting: Arc<Mutex<Vec<mpsc::Sender<Live>>>>,
}

impl Connection {
    pub(super) fn new(
        running: RunningService<RoleClient, Inbox>,
        host: Arc<dyn Host>,
        respondent: Arc<dyn Respondent>,
    ) -> Self {
        Self {
            peer: running.peer().clone(),
            host,
            respondent,
            inbox: running.service().clone(),
            running: Mutex::new(Some(running)),
        }
    }

    /// All progress that comes from now on, of whichever call.
    pub(super) fn progress(&self) -> broadcast::Receiver<ProgressNotificationParam> {
        self.inbox.progress.subscribe()
    }

    /// Puts a call in line for live questions.
    pub(super) fn hear(&self) -> Hearing {
        let (sender, questions) = mpsc::channel(1);
        let waiting = self.inbox.waiting.clone();
        locked(&waiting).push(sender);
        Hearing { questions, waiting }
    }

    /// Closes the connection and waits until it is.
    pub(super) async fn close(&self) {
        let running = locked(&self.running).take();
        if let Some(running) = running
            && let Err(error) = running.cancel().await
        {
            tracing::warn!(%error, "the connection did not close in order");
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Hearing {
    /// The next live question, waited for as long as it takes.
    pub(super) async fn next(&mut self) -> Live {
        match self.questions.recv().await {
            Some(live) => live,
            // Nobody is left who could ask.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.questions.close();
        locked(&self.waiting).retain(|call| !call.is_closed());
    }
}

impl Inbox {
    /// How much progress a call may be behind before it misses some.
    const BACKLOG: usize = 256;

    pub(super) fn new(config: ClientConfig) -> Self {
        Self {
            config,
            progress: broadcast::Sender::new(Self::BACKLOG),
            waiting: Arc::default(),
        }
    }
}

impl ClientHandler for Inbox {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Without a call there is nobody to tell.
        let _told = self.progress.send(progress);
    }

    /// Hands the question to the latest call that waits: the request does not say whose it is. Where
    /// that call is over before it has an answer, the question is dismissed.
    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let call = locked(&self.waiting).last().cloned();
        let (reply, answered) = oneshot::channel();
        let key = context.id.to_string();
        let live = Live { key, params, reply };
        if let Some(call) = call
            && call.send(live).await.is_ok()
        {
            tokio::select! {
                answer = answered => if let Ok(answer) = answer {
                    return Ok(answer.into());
                },
                () = context.ct.cancelled() => {}
            }
        }
        Ok(ElicitResult::new(ElicitationAction::Cancel))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
