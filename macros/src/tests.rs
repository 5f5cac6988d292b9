//! Snapshots of the expansion, one per shape. `UPDATE_EXPECT=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use proc_macro2::TokenStream;
use quote::quote;

use crate::diagnostics::Warning;
use crate::{diagnostics, form, tool};

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is a list of items"))
}

#[test]
fn a_tool_with_questions_and_steps() {
    let expansion = tool::expand(
        quote!(
            task = "required",
            ttl = "24h",
            poll = "2s",
            destructive = true
        ),
        quote! {
            /// Deploys a service after a person approved the plan.
            ///
            /// Waits for as long as it takes.
            pub async fn deploy(
                ctx: &mut Ctx,
                /// Service to deploy.
                service: String,
                /// Region to deploy to.
                #[arg(default = "eu-west-1")]
                region: String,
            ) -> Result<Deployed> {
                let plan = ctx.step("plan", make_plan(&service, &region)).await?;
                let approval: Approval = ctx.input(format!("Deploy {plan} to {region}?")).await?;
                let (name, sure): (String, bool) = ctx.input_all(("Name?", "Sure?")).await?;
                if !ctx.input::<bool>("Really?").key("really").await? {
                    return Err(ToolError::new("not approved"));
                }
                let release = ctx
                    .step("apply", async {
                        let plan = check(&plan)?;
                        if plan.is_empty() {
                            return apply(&plan).await;
                        }
                        Ok(plan)
                    })
                    .await?;
                Ok(Deployed { release })
            }
        },
    );
    expect_file!["../snapshots/tool.rs"].assert_eq(&pretty(expansion));
}

#[test]
fn a_tool_without_context() {
    let expansion = tool::expand(
        quote!(name = "echo.text", crate = ::other),
        quote! {
            async fn r#match(text: &str, #[arg(rename = "n")] times: Option<u8>) -> String {
                text.repeat(times.unwrap_or(1).into())
            }
        },
    );
    expect_file!["../snapshots/plain.rs"].assert_eq(&pretty(expansion));
}

#[test]
fn a_tool_with_mistakes() {
    let expansion = tool::expand(
        quote!(task = "requierd"),
        quote! {
            /// Deploys.
            async fn deploy(ctx: &mut Ctx<App>, Pair(a, b): Pair) -> Result<String> {
                other(ctx.input("Which?").await?)
            }
        },
    );
    expect_file!["../snapshots/refused.rs"].assert_eq(&pretty(expansion));
}

#[test]
fn forms() {
    let fields = form::expand(syn::parse_quote! {
        struct Approval {
            /// Go ahead?
            approve: bool,
            #[input(rename = "why")]
            r#type: Option<String>,
        }
    });
    let choices = form::expand(syn::parse_quote! {
        enum Color {
            /// Like fire.
            Red,
            Green,
        }
    });
    let expansion = quote!(#fields #choices);
    expect_file!["../snapshots/form.rs"].assert_eq(&pretty(expansion));
}

/// The cases of what only the compiler can tell, and of several mistakes together.
const OTHER_CASES: &[&str] = &[
    "answer_without_type",
    "argument_not_readable",
    "context_in_select",
    "context_of_another_toolbox",
    "context_of_another_type",
    "context_without_state",
    "error_not_convertible",
    "every_mistake",
    "field_not_flat",
    "not_a_tool",
    "not_a_toolbox",
    "not_send",
    "other_state",
    "part_context_of_another_type",
    "prefill_of_another_type",
    "question_not_askable",
    "question_outside",
    "return_not_writable",
    "server_without_store",
    "step_not_journaled",
    "step_without_result",
];

#[test]
fn every_message_has_its_case() {
    for (id, text) in diagnostics::ALL {
        let shown =
            fs::read_to_string(case(id, "stderr")).unwrap_or_else(|error| panic!("{id}: {error}"));
        let count = shown
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        assert_eq!(count, 1, "the case of `{id}` has one mistake");
        for fixed in fixed_parts(text) {
            assert!(
                shown.contains(fixed),
                "the case of `{id}` does not show `{fixed}`"
            );
        }
    }
}

#[test]
fn every_case_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let case = entry.expect("it can be listed").path();
        let case = case
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("it has a name");
        let known = diagnostics::ALL.iter().any(|(id, _)| *id == case);
        assert!(
            known || OTHER_CASES.contains(&case),
            "no message has the id `{case}`"
        );
    }
}

#[test]
fn every_message_is_in_the_docs() {
    let warnings = Warning::ALL.map(Warning::id);
    let table = |warns: bool| -> String {
        let mut messages: Vec<_> = diagnostics::ALL
            .iter()
            .filter(|(id, _)| warnings.contains(id) == warns)
            .collect();
        messages.sort_unstable();
        let section = |(id, text): &&(&str, &str)| {
            let text = text.replace("{{", "{").replace("}}", "}");
            let case = fs::read_to_string(case(id, "rs")).expect("each message has its case");
            format!(
                "### {id}\n\n> {text}\n\n```rust,ignore\n{}\n```\n\n",
                mistake(&case)
            )
        };
        messages.iter().map(section).collect()
    };
    let page = format!(
        "# What the macros refuse\n\nEach message, with a mistake that gives it. Words in braces are the author's \
         own. The page is\nwritten by a test from the messages and from the cases in `ui-tests/fail`.\n\n\
         ## Refused\n\n{}## Warned\n\nA warning is silenced by `allow(name)` in the attribute.\n\n{}",
        table(false),
        table(true)
    );
    expect_file!["../../docs/errors.md"].assert_eq(&format!("{}\n", page.trim_end()));
}

/// A file of the case `name`.
fn case(name: &str, extension: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    folder.join(name).with_extension(extension)
}

/// The part of a case that has the mistake in it.
fn mistake(case: &str) -> &str {
    let body = case
        .split_once("prelude::*;")
        .map_or(case, |(_, body)| body);
    let body = body.split("\nfn main() {}").next().unwrap_or(body);
    body.trim()
}

/// What stands between the words that a message quotes.
fn fixed_parts(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{")
        .flat_map(|part| part.split("}}"))
        .flat_map(|part| part.split('{').flat_map(|part| part.rsplit('}').take(1)))
}
