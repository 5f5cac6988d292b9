//! Whose request it is.

use std::fmt;
#[cfg(feature = "http")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use rmcp::{
    model::ErrorData,
    service::{RequestContext, RoleServer},
};

#[cfg(feature = "http")]
use super::wire;
#[cfg(feature = "http")]
use crate::error::ProtocolError;

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
    ///
    /// # Errors
    ///
    /// Where the author's code panics: it is not known whose request it is.
    #[cfg(feature = "http")]
    pub(super) fn of(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<String>, ErrorData> {
        match context.extensions.get() {
            Some(request) => self.read(request),
            None => Ok(None),
        }
    }

    /// The owner of a request as it came over HTTP.
    ///
    /// # Errors
    ///
    /// As those of [`of`](Self::of).
    #[cfg(feature = "http")]
    pub(super) fn read(&self, request: &http::request::Parts) -> Result<Option<String>, ErrorData> {
        let Some(read) = &self.read else {
            return Ok(None);
        };
        catch_unwind(AssertUnwindSafe(|| read(request))).map_err(|_| {
            tracing::error!("the owner of a request could not be read: the code for it panicked");
            let error = ProtocolError::internal("the caller could not be identified");
            wire::error(error.because("panic"))
        })
    }

    #[cfg(not(feature = "http"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "there are no requests to read an owner from"
    )]
    pub(super) fn of(&self, _: &RequestContext<RoleServer>) -> Result<Option<String>, ErrorData> {
        Ok(None)
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owners").finish_non_exhaustive()
    }
}
