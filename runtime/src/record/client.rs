//! The client of an execution, and what it can put to a person.

use serde::{Deserialize, Serialize};

/// The client, as the creating request described it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// The name that it gave itself; nothing vouches for it.
    pub name: Option<String>,
    /// The version that it gave itself.
    pub version: Option<String>,
    /// The protocol version of the request.
    pub protocol: Option<String>,
    /// Whether it can put forms to a person.
    pub elicits_forms: bool,
    /// Whether it can send a person to an address.
    #[serde(default)]
    pub elicits_urls: bool,
}

impl Client {
    /// What it can be asked for.
    pub(crate) const fn elicits(&self) -> Elicits {
        Elicits {
            forms: self.elicits_forms,
            urls: self.elicits_urls,
        }
    }
}

/// What a client can put to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elicits {
    pub(crate) forms: bool,
    pub(crate) urls: bool,
}
