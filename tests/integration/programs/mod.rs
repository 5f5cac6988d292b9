//! Programs as a reader of the documentation would write them.

mod approval;
mod arguments;
mod asking;
mod borrows;
mod builders;
mod errors;
mod limits;
mod masks;
mod parts;
mod positions;
mod returns;
mod toolbox;
