use syn::{Block, Ident, Signature, parse_quote};

use super::{Access, Found, Operation, Surroundings, rewrite};
use crate::args::{Detach, Mode};
use crate::diagnostics::{Errors, Warning};
use crate::runtime::Runtime;

/// What is in the body of a function with the context `ctx` and these parameters, or all that is
/// wrong with it.
fn found(signature: &Signature, mut body: Block) -> Result<Found, String> {
    let mut errors = Errors::default();
    let context: Ident = parse_quote!(ctx);
    let surroundings = Surroundings {
        runtime: &Runtime::new(None),
        signature,
        context: Access::Named(&context),
        mode: Some(Mode::Required),
        detach: Some(Detach::Always),
        allowed: &[],
    };
    let found = rewrite(&mut body, &surroundings, &mut errors);
    errors.finish().map_err(|errors| errors.to_string())?;
    Ok(found)
}

/// The operations of a body, as `kind key`, or all that is wrong with it.
fn operations(body: Block) -> Result<Vec<String>, String> {
    let signature = parse_quote!(async fn deploy(ctx: &mut Ctx));
    let found = found(&signature, body)?;
    Ok(found
        .operations
        .iter()
        .map(|Operation { kind, key }| format!("{kind} {key}"))
        .collect())
}

#[test]
fn a_question_is_named_by_what_its_answer_is_bound_to() {
    let bodies: [Block; 8] = [
        parse_quote!({
            let name: String = ctx.input("?").await?;
        }),
        parse_quote!({
            let mut name = (ctx.input::<u8>("?").optional().await)?;
        }),
        parse_quote!({
            let Some(name) = ctx.input("?").optional().await? else {
                return None;
            };
        }),
        parse_quote!({
            if let Ok(name) | Err(name) = ctx.choose("?", list).await {
                f(name);
            }
        }),
        parse_quote!({ while let Ok(Form { name, .. }) = ctx.input("?").await {} }),
        parse_quote!({
            name = ctx.input_url("?", url).await?;
        }),
        parse_quote!({
            f(ctx.input("?").key("name").await?);
        }),
        parse_quote!({
            let other = ctx.input("?").timeout(d).key("name").await?;
        }),
    ];
    for body in bodies {
        assert_eq!(
            operations(body).as_deref(),
            Ok(&["input name".to_owned()][..])
        );
    }
}

#[test]
fn a_question_without_one_name_is_refused() {
    let bodies: [Block; 9] = [
        parse_quote!({ ctx.input("?").await? }),
        parse_quote!({
            f(ctx.input("?").await?);
        }),
        parse_quote!({
            let _ = ctx.input::<u8>("?").await?;
        }),
        parse_quote!({
            let (a, b) = ctx.input("?").await?;
        }),
        parse_quote!({
            let Some(None) = ctx.input("?").await? else {
                return;
            };
        }),
        parse_quote!({
            let length = ctx.input::<String>("?").await?.len();
        }),
        parse_quote!({
            form.name = ctx.input("?").await?;
        }),
        parse_quote!({
            let name = if a { ctx.input("?").await? } else { b };
        }),
        parse_quote!({
            let (a, b) = ctx.input_all(("?", "?", "?")).await?;
        }),
    ];
    for body in bodies {
        let refusal = operations(body).expect_err("it has no name");
        assert_eq!(refusal.matches("compile_error").count(), 1, "{refusal}");
        assert!(
            refusal.contains("name to keep its answer under"),
            "{refusal}"
        );
    }
}

#[test]
fn operations_are_listed_in_the_order_of_the_code() {
    let body = parse_quote!({
        let plan = ctx.step("plan", make(ctx.state())).await?;
        let (a, b) = ctx.input_all(("A?", "B?")).await?;
        let answer = ctx.input(label(ctx.input("?").key("inner").await?)).await?;
        for host in hosts {
            ctx.step(format!("host {host}"), visit(host)).await?;
        }
        match answer {
            Some(_) => ctx.step_retry("retried", policy, || send(&plan)).await?,
            None => ctx.cleanup("undo", undo()).await?,
        }
    });
    let listed = [
        "step plan",
        "input a",
        "input b",
        "input inner",
        "input answer",
        "step retried",
        "cleanup undo",
    ];
    assert_eq!(operations(body), Ok(listed.map(str::to_owned).to_vec()));
}

#[test]
fn a_name_is_taken_once() {
    for body in [
        parse_quote!({
            let a = ctx.input("?").await?;
            let a = ctx.input("?").await?;
        }),
        parse_quote!({
            if b {
                ctx.step("a", f()).await?
            } else {
                ctx.step_retry("a", p, g).await?
            }
        }),
    ] {
        let refusal = operations(body).expect_err("it is taken");
        assert!(refusal.contains("is named `a` too"), "{refusal}");
    }
    // An answer and an outcome do not get into each other's way.
    let body = parse_quote!({
        let a = ctx.input("?").await?;
        ctx.step("a", f()).await?;
    });
    assert_eq!(
        operations(body),
        Ok(vec!["input a".to_owned(), "step a".to_owned()])
    );
}

#[test]
fn what_is_not_an_operation_is_left_alone() {
    let body: Block = parse_quote!({
        let state = ctx.state();
        other.input("?");
        fn inner(ctx: Other) {
            ctx.input("?");
        }
        ask(ctx, println!("{}", ctx.owner())).await?;
    });
    assert_eq!(operations(body), Ok(Vec::new()));
}

fn may_clean_up(body: Block) -> bool {
    let signature = parse_quote!(async fn deploy(ctx: &mut Ctx));
    let found = found(&signature, body).expect("the body has no mistakes");
    found.may_clean_up
}

#[test]
fn a_body_that_names_a_cleanup_or_hands_its_context_on_may_clean_up() {
    let bodies: [Block; 8] = [
        parse_quote!({ ctx.cleanup("undo", undo()).await? }),
        parse_quote!({ ctx.cleanup(format!("undo {n}"), undo()).await? }),
        parse_quote!({ undo(ctx).await? }),
        parse_quote!({ undo(&mut *ctx, "a").await? }),
        parse_quote!({ undo!(ctx) }),
        parse_quote!({
            let context = ctx;
        }),
        parse_quote!({ ctx.undo_all().await? }),
        parse_quote!({ vec![Ctx::cleanup] }),
    ];
    for body in bodies {
        assert!(may_clean_up(body));
    }
}

#[test]
fn a_body_that_only_calls_other_methods_of_its_context_does_not_clean_up() {
    let bodies: [Block; 3] = [
        parse_quote!({ work().await }),
        parse_quote!({
            let app = ctx.state();
            let sure = ctx.input::<bool>("Sure?").await?;
            ctx.step("send", send(ctx.call_id(), &app)).await?;
            println!("{}", ctx.owner());
        }),
        parse_quote!({
            let context = ctx.handle();
            other(context).await
        }),
    ];
    for body in bodies {
        assert!(!may_clean_up(body));
    }
}

/// How many operations are warned of because they are in a loop without an order.
fn unordered(body: Block) -> usize {
    let signature = parse_quote!(
        async fn deploy(ctx: &mut Ctx, map: HashMap<String, u32>, list: Vec<u32>, set: &HashSet<u8>)
    );
    let found = found(&signature, body).expect("the body has no mistakes");
    let warned = found.warnings.iter();
    warned
        .filter(|warned| warned.warning == Warning::Unordered)
        .count()
}

#[test]
fn operations_of_one_name_in_a_loop_without_an_order_are_warned_of() {
    let bodies: [Block; 12] = [
        parse_quote!({
            for _ in map {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            for _ in &map {
                let sure: bool = ctx.input("?").await?;
            }
        }),
        parse_quote!({
            for _ in set.iter() {
                f(ctx.input("?").key("a").await?);
            }
        }),
        parse_quote!({
            for _ in map.values().cloned().enumerate() {
                ctx.sleep(d).await?;
            }
        }),
        parse_quote!({
            for _ in map.drain() {
                let (a, b) = ctx.input_all(("?", "?")).await?;
            }
        }),
        parse_quote!({
            for _ in map.into_iter() {
                ctx.cleanup("a", f()).await?;
            }
        }),
        parse_quote!({
            for _ in map.keys() {
                for _ in list {
                    ctx.step("a", f()).await?;
                }
            }
        }),
        parse_quote!({
            let other: std::collections::HashSet<_> = make();
            for _ in (&other) {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            let mut other = HashMap::<u8, u8>::with_capacity(1);
            for _ in &mut other {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            let other = list.iter().collect::<HashSet<_>>();
            for _ in other {
                ctx.step_all("a", c, f).await?;
            }
        }),
        parse_quote!({
            let other = map.clone();
            for _ in other {
                ctx.step_retry("a", p, f).await?;
            }
        }),
        parse_quote!({
            {
                let map = Vec::new();
            }
            for _ in map {
                if a {
                    ctx.step("a", f()).await?;
                }
            }
        }),
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        assert_eq!(unordered(body), 1, "{index}");
    }
}

#[test]
fn operations_in_an_order_or_with_the_item_in_their_names_are_not_warned_of() {
    let bodies: [Block; 9] = [
        parse_quote!({
            for _ in list {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            for _ in &unknown {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            for a in map.keys() {
                ctx.step(format!("a {a}"), f()).await?;
            }
        }),
        parse_quote!({
            for a in map.keys() {
                f(ctx.input("?").key(a).await?);
            }
        }),
        parse_quote!({
            for a in map.keys() {
                f(a);
            }
            ctx.step("a", f()).await?;
        }),
        parse_quote!({
            for a in sorted(map.keys()) {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            let map: BTreeMap<_, _> = map.into_iter().collect();
            for _ in map {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            let first = map.iter().next();
            for _ in first {
                ctx.step("a", f()).await?;
            }
        }),
        parse_quote!({
            for map in lists {
                for _ in map {
                    ctx.step("a", f()).await?;
                }
            }
        }),
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        assert_eq!(unordered(body), 0, "{index}");
    }
}

/// How often a body gives its context to what cannot have it.
fn refusals(body: Block) -> usize {
    let signature = parse_quote!(async fn deploy(ctx: &mut Ctx));
    match found(&signature, body) {
        Ok(_) => 0,
        Err(errors) => errors.matches("compile_error").count(),
    }
}

#[test]
fn what_is_given_the_context_does_not_run_beside_the_body_nor_against_a_clock() {
    let bodies: [Block; 12] = [
        parse_quote!({ timeout(d, part(ctx)).await }),
        parse_quote!({ timeout_at(d, async { part(a, &mut *ctx).await }).await }),
        parse_quote!({ timeout(d, Box::pin(self.part(ctx))).await }),
        parse_quote!({ timeout(d, ctx.part()).await }),
        parse_quote!({ timeout(d, Part { ctx }.run()).await }),
        parse_quote!({ timeout(d, async { unknown!(a, ctx) }).await }),
        parse_quote!({ join!(part(ctx), other()) }),
        parse_quote!({ futures::future::join(part(ctx), other()).await }),
        parse_quote!({ join_all(items.map(|item| part(ctx, item))).await }),
        parse_quote!({
            select! { a = part(ctx) => a, b = other() => b }
        }),
        parse_quote!({ tokio::spawn(part(ctx)) }),
        parse_quote!({ tasks.spawn(async move { part(ctx).await }) }),
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        assert_eq!(refusals(body), 1, "{index}");
    }
}

#[test]
fn what_cannot_call_operations_runs_beside_the_body_and_against_a_clock() {
    let bodies: [Block; 10] = [
        parse_quote!({ part(ctx).await }),
        parse_quote!({ timeout(d, work(ctx.handle())).await }),
        parse_quote!({ timeout(d, (&mut *ctx).cancelled()).await }),
        parse_quote!({ timeout(d, describe(&*ctx, &ctx)).await }),
        parse_quote!({
            select! { () = ctx.cancelled() => a, b = work(ctx.state()) => b }
        }),
        parse_quote!({ join!(work(ctx.handle()), println!("{}", ctx.call_id())) }),
        parse_quote!({ tokio::spawn(work(ctx.handle(), other.ctx)) }),
        parse_quote!({ ctx.step("a", timeout(d, fetch())).await }),
        parse_quote!({ join_all(items.map(|ctx| work(ctx))).await }),
        parse_quote!({
            let ctx = ctx.handle();
            tokio::spawn(work(ctx))
        }),
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        assert_eq!(refusals(body), 0, "{index}");
    }
}
