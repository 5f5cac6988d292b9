use siding::prelude::*;

#[derive(Input)]
union Approval {
    sure: bool,
    count: u8,
}

fn main() {}
