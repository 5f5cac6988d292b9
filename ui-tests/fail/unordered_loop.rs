#![deny(warnings)]

use std::collections::HashMap;

use siding::prelude::*;

#[mcp_tool(task = "required")]
async fn refund(ctx: &mut Ctx, orders: HashMap<String, u32>) -> Result<()> {
    for order in orders.keys() {
        let sure: bool = ctx.input(format!("Refund {order}?")).await?;
        println!("{order}: {sure}");
    }
    Ok(())
}

fn main() {
    let _ = Server::new("shop", "1").tool::<refund>();
}
