use std::num::NonZeroU8;

use expect_test::expect_file;
use serde_json::json;
use siding::prelude::*;

use super::Subject;

/// Takes numbers of every kind.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn numbers(
    u8: u8,
    u16: u16,
    u32: u32,
    u64: u64,
    u128: u128,
    usize: usize,
    i8: i8,
    i16: i16,
    i32: i32,
    i64: i64,
    i128: i128,
    isize: isize,
    f32: f32,
    f64: f64,
    positive: NonZeroU8,
    /// May be left out.
    option: Option<u32>,
    #[arg(default = 3)] default: i32,
) {
    let unsigned = (u8, u16, u32, u64, u128, usize);
    let signed = (i8, i16, i32, i64, i128, isize);
    let _ = (unsigned, signed, f32, f64, positive, option, default);
}

async fn subject() -> Subject {
    let fitting = json!({
        "u8": 1, "u16": 1, "u32": 1, "u64": 1, "u128": 1, "usize": 1,
        "i8": -1, "i16": -1, "i32": -1, "i64": -1, "i128": -1, "isize": -1,
        "f32": 1.5, "f64": 1.5, "positive": 1, "option": 1, "default": 1,
    });
    Subject::new(Server::new("schemas", "1").tool::<numbers>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_numbers_have_bounds_and_no_formats_of_rust() {
    subject().await.has(&expect_file!["numbers.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_numbers_end_where_their_types_do() {
    let mut tool = subject().await;
    tool.takes("u8", [json!(0), json!(255)]).await;
    tool.refuses("u8", [json!(-1), json!(256)]).await;
    tool.takes("u16", [json!(0), json!(65_535)]).await;
    tool.refuses("u16", [json!(-1), json!(65_536)]).await;
    tool.takes("u32", [json!(0), json!(u32::MAX)]).await;
    tool.refuses("u32", [json!(-1), json!(4_294_967_296_u64)])
        .await;
    tool.takes("i8", [json!(-128), json!(127)]).await;
    tool.refuses("i8", [json!(-129), json!(128)]).await;
    tool.takes("i16", [json!(i16::MIN), json!(i16::MAX)]).await;
    tool.refuses("i16", [json!(-32_769), json!(32_768)]).await;
    tool.takes("i32", [json!(i32::MIN), json!(i32::MAX)]).await;
    tool.refuses("i32", [json!(-2_147_483_649_i64), json!(2_147_483_648_i64)])
        .await;
    tool.takes("positive", [json!(255)]).await;
    tool.refuses("positive", [json!(0), json!(256)]).await;
}

#[tokio::test(start_paused = true)]
async fn u16_wide_numbers_are_taken_whole() {
    let mut tool = subject().await;
    for name in ["u64", "u128", "usize"] {
        tool.takes(name, [json!(0), json!(u64::MAX)]).await;
        tool.refuses(name, [json!(-1), json!(0.5)]).await;
    }
    for name in ["i64", "i128", "isize"] {
        tool.takes(name, [json!(i64::MIN), json!(i64::MAX)]).await;
        tool.refuses(name, [json!(0.5), json!(false)]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn u16_whole_floats_are_integers_and_integers_are_floats() {
    let mut tool = subject().await;
    for name in ["u8", "u64", "i128", "positive", "option", "default"] {
        tool.takes(name, [json!(5.0)]).await;
        tool.refuses(name, [json!(5.5), json!("five"), json!([5])])
            .await;
    }
    for name in ["f32", "f64"] {
        tool.takes(name, [json!(5), json!(-0.25)]).await;
        tool.refuses(name, [json!("five"), json!(null), json!(true)])
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn u16_numbers_may_be_left_out_where_they_are_optional() {
    subject().await.may_miss("option").await;
}
