//! What tests of stores need (feature `testing`).

mod faulty;
mod sample;
pub mod store_conformance;

pub use self::faulty::{Fault, FaultyStore};
#[doc(hidden)]
pub use self::sample::{record, step};
