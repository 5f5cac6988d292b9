use siding::prelude::*;

#[derive(Input)]
struct Approval(bool);

fn main() {}
