use siding::prelude::*;

#[derive(Input)]
enum Pace {
    Careful,
    Limited(u32),
}

fn main() {}
