use siding::prelude::*;

#[derive(Input)]
struct Approval<T> {
    sure: T,
}

fn main() {}
