use syn::{Block, Ident, parse_quote};

use super::{Access, Operation, Surroundings, rewrite};
use crate::args::{Detach, Mode};
use crate::diagnostics::Errors;
use crate::runtime::Runtime;

/// The operations of a body, as `kind key`, or all that is wrong with it.
fn operations(mut body: Block) -> Result<Vec<String>, String> {
    let mut errors = Errors::default();
    let context: Ident = parse_quote!(ctx);
    let surroundings = Surroundings {
        runtime: &Runtime::new(None),
        context: Access::Named(&context),
        mode: Some(Mode::Required),
        detach: Some(Detach::Always),
        allowed: &[],
    };
    let found = rewrite(&mut body, &surroundings, &mut errors);
    errors.finish().map_err(|errors| errors.to_string())?;
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

fn may_clean_up(mut body: Block) -> bool {
    let mut errors = Errors::default();
    let context: Ident = parse_quote!(ctx);
    let surroundings = Surroundings {
        runtime: &Runtime::new(None),
        context: Access::Named(&context),
        mode: Some(Mode::Required),
        detach: Some(Detach::Always),
        allowed: &[],
    };
    let found = rewrite(&mut body, &surroundings, &mut errors);
    errors.finish().expect("the body has no mistakes");
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
