//! A client that writes HTTP itself.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::{TcpListener, TcpStream},
};

use super::Declares;

/// A server on the loopback interface.
pub(crate) struct Http {
    address: std::net::SocketAddr,
    serving: Option<tokio::task::JoinHandle<Result<(), siding::ServeError>>>,
}

impl Http {
    pub(crate) async fn start<S: Send + Sync + 'static>(server: siding::Server<S>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Some(tokio::spawn(server.serve_listener(listener)));
        Self { address, serving }
    }

    /// A server that runs elsewhere.
    pub(crate) const fn at(address: std::net::SocketAddr) -> Self {
        Self {
            address,
            serving: None,
        }
    }

    /// Posts a request of a client that declares tasks, with more headers; gives the status and
    /// the message that came back.
    pub(crate) async fn post(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> (u16, Value) {
        self.post_as(Declares::Tasks, headers, method, params).await
    }

    pub(crate) async fn post_as(
        &self,
        declares: Declares,
        headers: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> (u16, Value) {
        let mut stream = self.send(declares, headers, method, params).await;
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let status = response.split(' ').nth(1).unwrap().parse().unwrap();
        (status, message(&response))
    }

    /// Posts a request and leaves the response to be read as it comes.
    pub(crate) async fn stream(
        &self,
        declares: Declares,
        headers: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> Events {
        let stream = self.send(declares, headers, method, params).await;
        Events {
            lines: BufReader::new(stream).lines(),
        }
    }

    /// Posts a request, and gives the connection as soon as it is sent.
    pub(crate) async fn send(
        &self,
        declares: Declares,
        headers: &[(&str, &str)],
        method: &str,
        mut params: Value,
    ) -> TcpStream {
        params["_meta"] = declares.meta();
        let name = params
            .get("taskId")
            .or(params.get("name"))
            .and_then(Value::as_str);
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n"
        );
        let is_named = headers.iter().any(|(header, _)| *header == "Mcp-Name");
        if let Some(name) = name.filter(|_| !is_named) {
            write!(head, "Mcp-Name: {name}\r\n").unwrap();
        }
        if !headers.iter().any(|(header, _)| *header == "Host") {
            write!(head, "Host: {}\r\n", self.address).unwrap();
        }
        // An empty value leaves the header out.
        for (header, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            write!(head, "{header}: {value}\r\n").unwrap();
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        write!(head, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }
}

/// The messages of a response that goes on.
pub(crate) struct Events {
    lines: Lines<BufReader<TcpStream>>,
}

impl Events {
    /// The next message; `None` when the response has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            let data = line.strip_prefix("data: ").unwrap_or_default();
            if let Ok(message) = serde_json::from_str(data) {
                return Some(message);
            }
        }
        None
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

/// The JSON-RPC message in a response: a JSON body, or the event that carries one.
fn message(response: &str) -> Value {
    let lines = response
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    messages.find(Value::is_object).unwrap_or_default()
}
