use siding::prelude::*;

struct Deployer;

fn main() {
    let _ = Server::new("deployer", "1").toolbox(Deployer);
}
