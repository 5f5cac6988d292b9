use siding::prelude::*;

/// How fast to go.
#[derive(Input)]
enum Pace {
    /// One host at a time.
    Careful,
    #[input(rename = "fast")]
    Fast,
}

#[derive(Input)]
struct Plan {
    pace: Pace,
    again: Option<Pace>,
    tags: Vec<Pace>,
    #[input(rename = "count")]
    r#type: u32,
}

/// Asks in every position.
#[mcp_tool(task = "optional")]
async fn ask(ctx: &mut Ctx, hosts: Vec<String>) -> Result<String> {
    let name: String = ctx.input("Name?").await?;
    let plan = ctx.input::<Plan>(format!("Plan for {name}?")).await?;
    let Ok(count) = ctx.input::<u32>("How many?").await else {
        return Err(ToolError::new("no count"));
    };
    if let Ok(true) = ctx.input::<bool>("Go?").key("go").await {
        ctx.status("going");
    }
    let mut sure: bool;
    loop {
        sure = ctx.input("Sure?").await?;
        if sure {
            break;
        }
    }
    let (first, second): (String, bool) = ctx.input_all(("First?", "Second?")).await?;
    for host in &hosts {
        match ctx
            .input::<Pace>(format!("{host}?"))
            .key(format!("pace-{host}"))
            .await?
        {
            Pace::Careful => ctx.status("slow"),
            Pace::Fast => ctx.status(host),
        }
    }
    let Plan {
        pace: _,
        again,
        tags,
        r#type,
    } = plan;
    let more = again.is_some() || !tags.is_empty() || second && sure;
    Ok(format!("{first}{count}{type}{more}", r#type = r#type))
}

fn main() {
    let _ = Server::new("questions", "1").tool::<ask>();
}
