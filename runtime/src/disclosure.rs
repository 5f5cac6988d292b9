//! What clients are told of the errors of other code.

use std::{error::Error, fmt};

use crate::ToolError;

/// What stands in the place of a text that clients do not see.
const MASK: &str = "the tool failed; the log of the server tells why";

/// Reads an error, if it is of the type that was asked for.
type Map = Box<dyn Fn(&(dyn Error + 'static)) -> Option<ToolError> + Send + Sync>;

/// How errors that `?` converted are told: settled by the server, the same for all of its tools.
#[derive(Default)]
pub(crate) struct Disclosure {
    maps: Vec<Map>,
    mask: bool,
}

impl Disclosure {
    /// Tells errors of type `E` by `map`.
    pub(crate) fn map<E: Error + 'static>(&mut self, map: fn(&E) -> ToolError) {
        self.maps
            .push(Box::new(move |error| error.downcast_ref().map(map)));
    }

    /// Hides the texts of errors that are not mapped.
    pub(crate) fn mask(&mut self, mask: bool) {
        self.mask = mask;
    }

    /// What clients are told of `error`.
    pub(crate) fn tell(&self, error: ToolError) -> ToolError {
        if let Some(mapped) = self.mapped(&error) {
            return mapped;
        }
        if self.mask && error.is_foreign() {
            tracing::warn!(%error, "a tool failed; clients are not told why");
            return ToolError::new(MASK);
        }
        error
    }

    /// The first error, from the outermost to its last source, for which there is a map.
    fn mapped(&self, error: &ToolError) -> Option<ToolError> {
        let mut next = error.foreign();
        while let Some(error) = next {
            let mapped = self.maps.iter().find_map(|map| map(error));
            if mapped.is_some() {
                return mapped;
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Debug for Disclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disclosure")
            .field("maps", &self.maps.len())
            .field("mask", &self.mask)
            .finish()
    }
}
