use siding::prelude::*;

#[derive(Input)]
struct Approval {
    sure: bool,
    #[input(rename = "sure")]
    really: bool,
}

fn main() {}
