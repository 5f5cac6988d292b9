//! Methods as tools, in every shape.

#![deny(warnings)]

use siding::prelude::*;

struct Deployer {
    region: String,
}

#[mcp_tools(crate = ::siding)]
impl Deployer {
    const LIMIT: u8 = 3;

    /// Without a context.
    #[mcp_tool(read_only)]
    async fn region(&self) -> String {
        self.region.clone()
    }

    /// With the plain context, whatever its name.
    #[siding::mcp_tool(task = "optional", name = "deploy.service")]
    async fn deploy(&self, context: &mut Ctx, service: &str) -> Result<String> {
        let sure: bool = context.input(format!("Deploy {service}?")).await?;
        Ok(sure.to_string())
    }

    /// With the state by the context, and without `self`.
    #[mcp_tool]
    async fn limit(ctx: &mut Ctx<Self>, #[arg(default = Self::LIMIT)] limit: u8) -> Option<u8> {
        (ctx.state().region.len() > 1).then_some(limit)
    }

    /// A part.
    #[mcp_part]
    async fn ask(&self, ctx: &mut Ctx<Self>) -> Result<u8> {
        let count = ctx.input("How many?").await?;
        Ok(count)
    }

    /// Calls it.
    #[mcp_tool(task = "required")]
    #[cfg(not(any()))]
    async fn count(&self, ctx: &mut Ctx<Self>) -> Result<u8> {
        self.ask(ctx).await
    }

    /// Is not there.
    #[mcp_tool]
    #[cfg(any())]
    async fn absent(&self, missing: Missing) {}

    fn plain(&self) -> usize {
        self.region.len()
    }
}

fn main() {
    let deployer = Deployer { region: "eu-west-1".into() };
    assert_eq!(deployer.plain(), 9);
    let _ = Server::new("deployer", "1").toolbox(deployer);
}
