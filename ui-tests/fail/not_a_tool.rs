use siding::prelude::*;

struct deploy;

fn main() {
    let _ = Server::new("deployer", "1").tools(tools![deploy]);
}
