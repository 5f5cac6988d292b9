use siding::prelude::*;

struct Address {
    street: String,
}

#[derive(Input)]
struct Order {
    count: u32,
    address: Address,
}

fn main() {}
