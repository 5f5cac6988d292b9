//! What a server does for a call, and that it stops when the call is given up.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::model::{CancelTaskParams, CancelledNotification, CancelledNotificationParam, RequestId};
use tokio::runtime::Handle;

use super::connection::Connection;

/// How long a server may take to acknowledge that it is told to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a server does for one call. Where this is dropped before that is [done](Self::done), the server
/// is told to stop.
#[derive(Debug)]
pub(super) struct Work {
    connection: Arc<Connection>,
    on: Mutex<Option<On>>,
}

/// What a server is at.
#[derive(Clone, Debug)]
pub(super) enum On {
    Request(RequestId),
    Task(String),
}

impl Work {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        Self {
            connection,
            on: Mutex::default(),
        }
    }

    pub(super) fn begins(&self, on: On) {
        *self.on() = Some(on);
    }

    /// There is nothing left to stop.
    pub(super) fn done(&self) {
        *self.on() = None;
    }

    /// The task that the server works on.
    pub(super) fn task(&self) -> Option<String> {
        match &*self.on() {
            Some(On::Task(id)) => Some(id.clone()),
            None | Some(On::Request(_)) => None,
        }
    }

    /// Tells the server to stop, and waits until it knows, for at most a second. What goes wrong is
    /// logged.
    pub(super) async fn give_up(&self) {
        let Some(on) = self.on().take() else { return };
        // A task of its own goes on where the caller drops this one.
        let stopped = tokio::spawn(stop(self.connection.clone(), on)).await;
        if let Err(error) = stopped {
            tracing::warn!(%error, "telling the server to stop failed");
        }
    }

    fn on(&self) -> MutexGuard<'_, Option<On>> {
        self.on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let Some(on) = self.on().take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(stop(self.connection.clone(), on))),
            Err(_) => {
                tracing::warn!(abandoned = ?on, "dropped outside of tokio: the server is not told");
            }
        }
    }
}

async fn stop(connection: Arc<Connection>, on: On) {
    let told = async {
        match on.clone() {
            On::Request(id) => {
                let reason = Some("the caller gave it up".to_owned());
                let params = CancelledNotificationParam::new(Some(id), reason);
                let notification = CancelledNotification::new(params);
                connection.peer.send_notification(notification.into()).await
            }
            On::Task(id) => {
                let params = CancelTaskParams::new(id);
                connection.peer.cancel_task(params).await
            }
        }
    };
    tokio::select! {
        told = told => if let Err(error) = told {
            tracing::warn!(%error, abandoned = ?on, "the server cannot be told to stop");
        },
        () = connection.host.sleep(PATIENCE) => {
            tracing::warn!(abandoned = ?on, "the server did not acknowledge that it is to stop");
        }
    }
}
