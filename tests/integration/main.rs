//! Tests of siding as its users meet it: over the wire, with a virtual clock.
//!
//! Rows of parity stand in the names: `w06_..` shows row W6 of `tests/PARITY.md`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod adverse;
mod arguments;
mod backlog;
mod building;
mod client;
mod clients;
mod decision;
mod delivery;
mod detach;
mod documented;
mod drift;
mod durable;
mod eras;
mod every_client;
mod examples;
mod faithful;
mod faults;
mod harness;
mod http;
mod hygiene;
mod kill;
mod killers;
mod lifecycle;
mod lines;
mod listening;
mod live;
mod logs;
mod malformed;
mod model;
mod over;
mod panics;
mod parity;
mod processes;
mod programs;
mod progress;
mod questions;
mod races;
mod refusals;
mod restart;
mod rounds;
mod schemas;
mod several;
mod sqlite;
mod sqlite_crash;
mod stores;
mod support;
mod wording;
