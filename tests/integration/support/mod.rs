//! A server on a duplex, a client that speaks raw JSON-RPC, and a clock that moves by itself.

mod clock;
mod hooked;
mod http;
mod wire;

pub(crate) use self::{
    clock::VirtualHost,
    hooked::{HookedStore, Moment},
    http::Http,
    wire::{Declares, Wire, accepted, questions},
};

/// The wire key of the tasks extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
