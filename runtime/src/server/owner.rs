//! Whose request it is.

use std::fmt;

use rmcp::service::{RequestContext, RoleServer};

#[cfg(feature = "http")]
type Read = dyn Fn(&http::request::Parts) -> Option<String> + Send + Sync;

/// Reads the caller from a request that the author's own layers have authenticated.
#[derive(Clone, Default)]
pub(super) struct Owners {
    #[cfg(feature = "http")]
    read: Option<std::sync::Arc<Read>>,
}

impl Owners {
    #[cfg(feature = "http")]
    pub(super) fn new(
        read: impl Fn(&http::request::Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            read: Some(std::sync::Arc::new(read)),
        }
    }

    /// The owner; nobody where the request did not come over HTTP.
    #[cfg(feature = "http")]
    pub(super) fn of(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let read = self.read.as_ref()?;
        read(context.extensions.get()?)
    }

    #[cfg(not(feature = "http"))]
    #[expect(
        clippy::unused_self,
        reason = "there are no requests to read an owner from"
    )]
    pub(super) fn of(&self, _: &RequestContext<RoleServer>) -> Option<String> {
        None
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owners").finish_non_exhaustive()
    }
}
