//! The fake server itself, spoken to in lines.

use serde_json::{Value, json};
use siding::testing::{FakeServer, Reply};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// A client that writes lines.
struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Raw {
    fn new(server: &FakeServer) -> Self {
        let (reader, writer) = tokio::io::split(server.connect());
        let lines = BufReader::new(reader).lines();
        Self { lines, writer }
    }

    async fn write(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.write(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .await;
        self.read().await
    }
}

#[tokio::test]
async fn c13_the_fake_server_says_what_was_written_down() {
    let server = FakeServer::new();
    server.reply(Reply::progress(1.0, Some(2.0)));
    server.reply(Reply::task("t1", json!({ "pollIntervalMs": 7 })));
    server.reply(Reply::error(-32000, "no more tea"));
    server.task(
        "t1",
        [
            json!({ "status": "working", "ttlMs": 5 }),
            json!({ "status": "cancelled" }),
        ],
    );
    server.refuse("tasks/update", -32602, "that does not fit");
    let mut client = Raw::new(&server);

    let params = json!({ "name": "order", "_meta": { "progressToken": 9 } });
    let progress = client.request("tools/call", params).await;
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(
        progress["params"],
        json!({ "progressToken": 9, "progress": 1.0, "total": 2.0 })
    );
    let created = client.read().await["result"].take();
    assert_eq!(
        (&created["resultType"], &created["taskId"]),
        (&json!("task"), &json!("t1"))
    );
    let refused = client
        .request("tools/call", json!({ "name": "order" }))
        .await;
    assert_eq!(
        refused["error"],
        json!({ "code": -32000, "message": "no more tea" })
    );

    // A state has what the task was created with, unless it says otherwise, and the last one stays.
    let id = json!({ "taskId": "t1" });
    for (status, ttl) in [
        ("working", json!(5)),
        ("cancelled", Value::Null),
        ("cancelled", Value::Null),
    ] {
        let state = client.request("tasks/get", id.clone()).await["result"].take();
        assert_eq!((&state["status"], &state["ttlMs"]), (&json!(status), &ttl));
        assert_eq!(
            (&state["resultType"], &state["pollIntervalMs"]),
            (&json!("complete"), &json!(7))
        );
    }
    let unknown = client.request("tasks/get", json!({ "taskId": "t2" })).await;
    assert_eq!(unknown["error"]["code"], -32602);

    let refused = client.request("tasks/update", id.clone()).await;
    assert_eq!(refused["error"]["message"], "that does not fit");
    let taken = client.request("tasks/update", id).await;
    assert_eq!(taken["result"], json!({ "resultType": "complete" }));
}

#[tokio::test]
async fn c13_the_fake_server_remembers_what_it_was_asked() {
    let server = FakeServer::new();
    server.ignore("tasks/get");
    let mut client = Raw::new(&server);
    let ignored = json!({ "taskId": "t1" });
    client
        .write(json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": ignored }))
        .await;
    // The next thing said is the answer to the next request.
    let answer = client
        .request("tasks/cancel", json!({ "taskId": "t2" }))
        .await;
    assert_eq!(answer["result"], json!({ "resultType": "complete" }));
    server.until("tasks/cancel").await;
    assert_eq!(server.params("tasks/get"), [json!({ "taskId": "t1" })]);
    assert_eq!(server.params("tasks/cancel"), [json!({ "taskId": "t2" })]);
    let methods: Vec<_> = server
        .received()
        .into_iter()
        .map(|asked| asked.method)
        .collect();
    assert_eq!(methods, ["tasks/get", "tasks/cancel"]);
}
