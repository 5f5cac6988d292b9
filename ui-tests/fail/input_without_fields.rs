use siding::prelude::*;

#[derive(Input)]
struct Approval;

fn main() {}
