//! A client that writes and reads the protocol itself, so that tests see exactly what is on the
//! wire.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};
use siding::{ServeError, Server, host::Host};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
    time::{Duration, sleep, timeout},
};

use super::{TASKS, VirtualHost};

/// What a client declares on each of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declares {
    /// The tasks extension, and elicitation by form.
    Tasks,
    /// The tasks extension, and elicitation by form and by URL.
    Urls,
    /// Elicitation by form only.
    Elicitation,
    /// Nothing.
    Nothing,
}

impl Declares {
    pub(crate) fn capabilities(self) -> Value {
        match self {
            Self::Tasks => json!({ "elicitation": {}, "extensions": { (TASKS): {} } }),
            Self::Urls => json!({
                "elicitation": { "form": {}, "url": {} },
                "extensions": { (TASKS): {} },
            }),
            Self::Elicitation => json!({ "elicitation": {} }),
            Self::Nothing => json!({}),
        }
    }

    /// `_meta` of each request of a client of 2026-07-28.
    pub(crate) fn meta(self) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
            "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        })
    }
}

/// A connection to a server of its own.
pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    /// `_meta` of each request.
    meta: Value,
    next_id: u64,
    /// Responses that came before they were asked for.
    early: HashMap<u64, Value>,
    /// Requests and notifications of the server that nobody looked at yet.
    inbox: VecDeque<Value>,
    clock: Option<VirtualHost>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Wire {
    /// Connects as a client of 2026-07-28.
    pub(crate) fn modern<S: Send + Sync + 'static>(server: Server<S>, declares: Declares) -> Self {
        Self::connect(server, declares.meta())
    }

    /// Connects as a client of 2026-07-28 to a server with this clock.
    pub(crate) fn on<S: Send + Sync + 'static>(
        server: Server<S>,
        declares: Declares,
        host: impl Host,
    ) -> Self {
        Self::connect_with(server, declares.meta(), host, None)
    }

    /// Connects a client that declares tasks to a server with this clock.
    pub(crate) fn with_host<S: Send + Sync + 'static>(server: Server<S>, host: impl Host) -> Self {
        Self::on(server, Declares::Tasks, host)
    }

    /// The clock of the server, which was given none of its own.
    pub(crate) fn host(&self) -> VirtualHost {
        self.clock.expect("it was given none")
    }

    /// Connects as a client of 2025-11-25, and gives what `initialize` was answered with.
    pub(crate) async fn legacy<S: Send + Sync + 'static>(
        server: Server<S>,
        declares: Declares,
    ) -> (Self, Value) {
        Self::older(server, "2025-11-25", declares).await
    }

    /// Connects with the handshake of an older protocol, and gives what it was answered with.
    pub(crate) async fn older<S: Send + Sync + 'static>(
        server: Server<S>,
        version: &str,
        declares: Declares,
    ) -> (Self, Value) {
        let mut wire = Self::connect(server, Value::Null);
        let answer = wire.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": declares.capabilities(),
                "clientInfo": { "name": "wire", "version": "1" },
            }),
        );
        let answer = answer.await.unwrap();
        wire.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        (wire, answer)
    }

    /// Connects a client that declares tasks to a server with its clock virtual.
    pub(crate) fn tasks<S: Send + Sync + 'static>(server: Server<S>) -> Self {
        Self::modern(server, Declares::Tasks)
    }

    fn connect<S: Send + Sync + 'static>(server: Server<S>, meta: Value) -> Self {
        let host = VirtualHost::new();
        Self::connect_with(server, meta, host, Some(host))
    }

    fn connect_with<S: Send + Sync + 'static>(
        server: Server<S>,
        meta: Value,
        host: impl Host,
        clock: Option<VirtualHost>,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(server.host(host).serve(reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            meta,
            next_id: 1,
            early: HashMap::new(),
            inbox: VecDeque::new(),
            clock,
            server,
        }
    }

    /// Sends a request and waits for its result, or its error.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.receive(id).await
    }

    /// Sends a request, and gives its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if let (Value::Object(params), Value::Object(meta)) = (&mut params, &self.meta) {
            let own = params.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(own) = own {
                for (key, value) in meta {
                    own.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request).await;
        id
    }

    /// Waits for the response to a request.
    pub(crate) async fn receive(&mut self, id: u64) -> Result<Value, Value> {
        while !self.early.contains_key(&id) {
            self.read().await;
        }
        let mut message = self.early.remove(&id).unwrap();
        match message.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(message["result"].take()),
        }
    }

    /// Waits for a request or notification of the server.
    pub(crate) async fn incoming(&mut self, method: &str) -> Value {
        loop {
            let mut waiting = self.inbox.iter();
            if let Some(place) = waiting.position(|message| message["method"] == method) {
                return self.inbox.remove(place).unwrap();
            }
            self.read().await;
        }
    }

    /// Takes in what the server says meanwhile, for [`unread`](Self::unread).
    pub(crate) async fn hear(&mut self, time: Duration) {
        let heard = async {
            loop {
                self.read().await;
            }
        };
        let _over = timeout(time, heard).await;
    }

    /// The requests and notifications that came and that nobody looked at.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Value> {
        self.inbox.iter()
    }

    /// Answers a request of the server.
    pub(crate) async fn respond(&mut self, request: &Value, result: Value) {
        let id = &request["id"];
        let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.write(&response).await;
    }

    async fn read(&mut self) {
        let line = self.lines.next_line().await.unwrap();
        let message = line.expect("the server is still there");
        let message: Value = serde_json::from_str(&message).unwrap();
        match (message.get("method"), message["id"].as_u64()) {
            (None, Some(of)) => {
                self.early.insert(of, message);
            }
            _ => self.inbox.push_back(message),
        }
    }

    pub(crate) async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Calls a tool again, with answers to the round that `asked` is.
    pub(crate) async fn again(
        &mut self,
        tool: &str,
        arguments: Value,
        asked: &Value,
        responses: Value,
    ) -> Result<Value, Value> {
        let call = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", retry(call, asked, responses))
            .await
    }

    /// Calls a tool again, with answers to the round that `asked` is; they are not refused.
    pub(crate) async fn go_on(
        &mut self,
        tool: &str,
        arguments: Value,
        asked: &Value,
        responses: Value,
    ) -> Value {
        self.again(tool, arguments, asked, responses).await.unwrap()
    }

    /// Takes a request back.
    pub(crate) async fn take_back(&mut self, request: u64) {
        let method = "notifications/cancelled";
        let params = json!({ "requestId": request });
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// Calls a tool that becomes a task, and gives its id.
    pub(crate) async fn task(&mut self, tool: &str, arguments: Value) -> String {
        let created = self.call(tool, arguments).await.unwrap();
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().unwrap().into()
    }

    /// Calls a tool that becomes a task, and gives its id when it asks.
    pub(crate) async fn parked(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.task(tool, arguments).await;
        self.until(&id, "input_required").await;
        id
    }

    /// What a listener is told that it listens to.
    pub(crate) async fn acknowledged(&mut self) -> Value {
        self.incoming("notifications/subscriptions/acknowledged")
            .await
    }

    /// `tasks/get`.
    pub(crate) async fn get(&mut self, id: &str) -> Value {
        self.request("tasks/get", json!({ "taskId": id }))
            .await
            .unwrap()
    }

    /// Polls until the task has this status; a status that it cannot come from is a failure.
    pub(crate) async fn until(&mut self, id: &str, status: &str) -> Value {
        for pause in pauses() {
            let task = self.get(id).await;
            if task["status"] == status {
                return task;
            }
            assert!(!is_terminal(&task), "waited for `{status}`: {task}");
            sleep(pause).await;
        }
        panic!("the task never became `{status}`");
    }

    /// Polls until the task has ended.
    pub(crate) async fn end(&mut self, id: &str) -> Value {
        for pause in pauses() {
            let task = self.get(id).await;
            if is_terminal(&task) {
                return task;
            }
            sleep(pause).await;
        }
        panic!("the task never ended");
    }

    /// `tasks/update` with answers as they are.
    pub(crate) async fn update(&mut self, id: &str, responses: Value) -> Result<Value, Value> {
        let params = json!({ "taskId": id, "inputResponses": responses });
        self.request("tasks/update", params).await
    }

    /// Accepts one question with `content`.
    pub(crate) async fn accept(&mut self, id: &str, key: &str, content: Value) {
        let answer = json!({ key: accepted(content) });
        let ack = self.update(id, answer).await.unwrap();
        assert_eq!(ack["resultType"], "complete");
    }

    /// `tasks/cancel`.
    pub(crate) async fn cancel(&mut self, id: &str) -> Result<Value, Value> {
        self.request("tasks/cancel", json!({ "taskId": id })).await
    }

    /// Ends the server where it stands.
    pub(crate) async fn kill(self) {
        self.server.abort();
        // It is gone when this is.
        let _aborted = self.server.await;
    }

    /// Ends the connection and the server.
    pub(crate) async fn close(self) {
        drop((self.lines, self.writer));
        self.server.await.unwrap().unwrap();
    }
}

/// The pauses between polls: short at first, some minutes in all.
/// The parameters of `call`, made again with answers to the round that `asked` is.
pub(crate) fn retry(mut call: Value, asked: &Value, responses: Value) -> Value {
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = responses;
    call
}

fn pauses() -> impl Iterator<Item = Duration> {
    (1..500).map(|poll| Duration::from_millis(10 * poll).min(Duration::from_secs(1)))
}

fn is_terminal(task: &Value) -> bool {
    ["completed", "failed", "cancelled"]
        .iter()
        .any(|status| task["status"] == *status)
}

/// An answer that accepts a question.
pub(crate) fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// The outstanding questions of a task or a round.
pub(crate) fn questions(task: &Value) -> &Map<String, Value> {
    task["inputRequests"]
        .as_object()
        .expect("it asks something")
}
