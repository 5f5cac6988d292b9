//! A server on a duplex, a client that speaks raw JSON-RPC, and a clock that moves by itself.

mod clock;
mod disk;
mod example;
mod hooked;
mod http;
mod log;
mod process;
mod wire;

pub(crate) use self::{
    clock::VirtualHost,
    disk::Disk,
    example::example,
    hooked::{HookedStore, Moment},
    http::Http,
    log::Log,
    process::{Process, eventually},
    wire::{Declares, Wire, accepted, questions, retry, text},
};

/// The wire key of the tasks extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
