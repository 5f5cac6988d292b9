//! `notifications/tasks` through `subscriptions/listen` (SEP-2663).
//!
//! rmcp knows listen requests, but not the ids of tasks in them. The transports read the ids from the
//! request as it came, refuse it where the client did not declare tasks, and add those that are
//! granted to the acknowledgement as it leaves; in between they travel in the request's extensions.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use rmcp::model::{
    ErrorData, NotificationMetaObject, ServerNotification, TASKS_EXTENSION_ID,
    TaskStatusNotification, TaskStatusNotificationParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::wire::{self, Facts};
use crate::{decision::Era, engine::Engine, error::ProtocolError, record::TaskId};

/// One listen request names no more tasks.
const MOST: usize = 1_000;

/// The tasks of a listen request.
#[derive(Clone, Debug)]
pub(super) struct Listening {
    requested: Vec<TaskId>,
    granted: Arc<OnceLock<Vec<TaskId>>>,
}

impl Listening {
    /// The tasks that `message` names, where it is a listen request that names any.
    ///
    /// # Errors
    ///
    /// What the client is answered: that it did not declare tasks, or that these are no ids.
    pub(super) fn read(message: &Value) -> Result<Option<Self>, ErrorData> {
        let params = &message["params"];
        let meta = &params["_meta"];
        let version = meta["io.modelcontextprotocol/protocolVersion"].as_str();
        let is_modern = wire::era(version) == Era::Modern;
        if message["method"] != "subscriptions/listen" || !is_modern {
            return Ok(None);
        }
        let Some(ids) = params["notifications"].get("taskIds") else {
            return Ok(None);
        };
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        if capabilities["extensions"].get(TASKS_EXTENSION_ID).is_none() {
            return Err(wire::needs_tasks());
        }
        let ids = ids.as_array().and_then(|ids| {
            let ids = ids.iter().map(|id| id.as_str().map(TaskId::from));
            ids.collect::<Option<Vec<_>>>()
        });
        let Some(mut requested) = ids else {
            let message = "`notifications.taskIds` must be a list of strings";
            return Err(ErrorData::invalid_params(message, None));
        };
        if requested.len() > MOST {
            let message = format!("one request can listen to {MOST} tasks; send several");
            return Err(wire::error(ProtocolError::over_limit(message)));
        }
        requested.sort_unstable();
        requested.dedup();
        Ok(Some(Self {
            requested,
            granted: Arc::default(),
        }))
    }

    /// Settles which of the tasks are there for `owner`. The others are left out: what belongs to
    /// somebody else does not exist.
    pub(super) async fn grant(&self, engine: &Engine, owner: Option<&str>) {
        let mut granted = Vec::new();
        for id in &self.requested {
            if engine.get(id, owner).await.is_ok() {
                granted.push(id.clone());
            }
        }
        self.granted.get_or_init(|| granted);
    }

    /// Adds what was granted to the acknowledgement.
    pub(super) fn acknowledge(&self, message: &mut Value) {
        let ids: Vec<_> = self.granted().iter().map(TaskId::as_str).collect();
        if let Some(accepted) = message["params"]["notifications"].as_object_mut() {
            accepted.insert("taskIds".into(), ids.into());
        }
    }

    fn granted(&self) -> &[TaskId] {
        self.granted.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// The tasks of the request that `context` is of.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let extensions = &context.extensions;
        #[cfg(feature = "http")]
        if let Some(request) = extensions.get::<http::request::Parts>() {
            return request.extensions.get().cloned();
        }
        extensions.get().cloned()
    }

    /// Tells the client of each task as it is, and again whenever what `tasks/get` returns of it
    /// changes, for as long as it listens.
    pub(super) async fn announce(
        &self,
        engine: &Engine,
        facts: &Facts,
        context: &RequestContext<RoleServer>,
    ) {
        let of_server = facts.meta(wire::caller(context));
        let mut told = HashMap::new();
        let mut watch = engine.watch(self.granted());
        loop {
            let record = watch.next().await;
            let view = wire::detailed(&record, of_server.clone());
            // Not the view itself: it may be large, and there may be many.
            let digest = serde_json::to_vec(&view).map(Sha256::digest).ok();
            if told.insert(record.id().clone(), digest) == Some(digest) {
                continue;
            }
            let mut meta = NotificationMetaObject::new();
            if let Some(of_view) = view.meta {
                meta.0.extend(of_view);
            }
            meta.set_subscription_id(context.id.clone());
            let params = TaskStatusNotificationParams::new(view.task).with_meta(meta);
            let notification = TaskStatusNotification::new(params);
            let notification = ServerNotification::TaskStatusNotification(notification);
            if let Err(error) = context.peer.send_notification(notification).await {
                tracing::debug!(%error, "a client that listens is gone");
                return;
            }
        }
    }
}
