//! Tests of siding as its users meet it: over the wire, with a virtual clock.
//!
//! Rows of parity stand in the names: `w06_..` shows row W6 of `tests/PARITY.md`.

mod arguments;
mod building;
mod clients;
mod decision;
mod examples;
mod lifecycle;
mod malformed;
mod panics;
mod programs;
mod questions;
mod support;
