use std::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use expect_test::expect_file;
use serde_json::json;
use siding::prelude::*;
use url::Url;
use uuid::Uuid;

use super::Subject;

/// Takes types of other crates.
#[mcp_tool]
#[expect(clippy::too_many_arguments, reason = "one of each")]
async fn foreign(
    instant: DateTime<Utc>,
    date: NaiveDate,
    time: NaiveTime,
    local: NaiveDateTime,
    duration: Duration,
    uuid: Uuid,
    url: Url,
    ip: IpAddr,
    ipv4: Ipv4Addr,
    /// From then on.
    option: Option<DateTime<Utc>>,
    ids: Option<Vec<Uuid>>,
) {
    drop((instant, date, time, local, duration, uuid, url));
    drop((ip, ipv4, option, ids));
}

async fn subject() -> Subject {
    let fitting = json!({
        "instant": "2026-07-28T12:00:00Z", "date": "2026-07-28", "time": "12:00:00",
        "local": "2026-07-28T12:00:00", "duration": { "secs": 1, "nanos": 5 },
        "uuid": "67e55044-10b1-426f-9247-bb680e5fe0c8", "url": "https://example.com/a",
        "ip": "::1", "ipv4": "127.0.0.1", "option": "2026-07-28T12:00:00+02:00",
        "ids": ["67e55044-10b1-426f-9247-bb680e5fe0c8"],
    });
    Subject::new(Server::new("schemas", "1").tool::<foreign>(), fitting).await
}

#[tokio::test(start_paused = true)]
async fn u16_foreign_types_have_formats_of_json_schema_only() {
    subject().await.has(&expect_file!["foreign.json"]);
}

#[tokio::test(start_paused = true)]
async fn u16_foreign_types_take_what_their_schemas_take() {
    let mut tool = subject().await;
    for name in ["instant", "option"] {
        tool.refuses(name, [json!("2026-07-28"), json!("soon"), json!(0)])
            .await;
    }
    tool.refuses("date", [json!("2026-02-30"), json!("28.7.2026")])
        .await;
    tool.refuses("uuid", [json!(1)]).await;
    tool.refuses_by_2020_12("uuid", [json!("67e55044")]).await;
    tool.refuses("url", [json!("no url"), json!("/a"), json!(1)])
        .await;
    tool.refuses("ipv4", [json!("::1"), json!("256.0.0.1")])
        .await;
    tool.refuses("duration", [json!({ "secs": -1, "nanos": 0 }), json!(1)])
        .await;
    tool.refuses("ids", [json!([1]), json!("a")]).await;
    tool.refuses_by_2020_12("ids", [json!(["a"])]).await;
    tool.may_miss("option").await;
    tool.may_miss("ids").await;
}
