//! Policies for [`Ctx::step_retry`](crate::Ctx::step_retry): how often, and after which pauses.

pub use backon::{BackoffBuilder, ConstantBuilder, ExponentialBuilder, FibonacciBuilder};
