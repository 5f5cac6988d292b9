//! Programs as a reader of the documentation would write them.

mod approval;
mod arguments;
mod asking;
mod errors;
mod masks;
mod parts;
mod returns;
mod toolbox;
