//! Calls a tool of any MCP server, and stays with it to its end.
//!
//! ```text
//! drive http://127.0.0.1:8000/mcp deploy service=api
//! drive deploy service=api -- my-server --its-options
//! ```
//!
//! Without a tool it lists those that there are. What the server asks is asked in the terminal: Esc
//! leaves a question, Ctrl-C dismisses it. Anywhere else Ctrl-C cancels the task on the server. Scripts
//! take `--json` and `--answers`; the exit codes are in `docs/client.md`.

mod arguments;
mod form;
mod outcome;
mod output;
mod person;
mod script;
mod terminal;

use std::{pin::pin, process::ExitCode, time::Duration};

use clap::Parser;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use siding::client::{Call, Client, ConnectError, Event};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use self::{arguments::Refused, outcome::Outcome, output::Output, person::Person};

/// How long a server over standard streams may take to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Calls a tool of an MCP server, and stays with it to its end.
#[derive(Parser)]
#[command(override_usage = "drive [OPTIONS] URL [TOOL [KEY=VALUE]..]\n       \
                            drive [OPTIONS] [TOOL [KEY=VALUE]..] -- COMMAND [ARGUMENT]..")]
struct Options {
    /// The address of the server, unless a command is given; the tool, unless all are to be listed; and its
    /// arguments. A value is read as JSON where the tool wants no string.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// A server that speaks over its standard streams.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Go on with this task, in place of a call.
    #[arg(long, value_name = "TASK")]
    resume: Option<String>,
    /// Give up after this long, as in `90s` or `2h`; the server is told.
    #[arg(long, value_name = "DURATION")]
    timeout: Option<humantime::Duration>,
    /// Print one JSON object per event.
    #[arg(long)]
    json: bool,
    /// Answer from this object, by the keys of the questions: the content of a form, the bare value of its
    /// only field, `true` for an address, `null` to decline.
    #[arg(long, value_name = "JSON")]
    answers: Option<String>,
}

/// Why there was nothing to drive.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("`--answers` is no JSON object: {0}")]
    Answers(#[from] serde_json::Error),
    #[error("cannot start the server: {0}")]
    Start(#[from] std::io::Error),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot list the tools: {0}")]
    List(#[from] rmcp::service::ServiceError),
}

/// What the words of the command line mean.
struct Words {
    url: Option<String>,
    tool: Option<String>,
    arguments: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = run(options).await.unwrap_or_else(|trouble| {
        eprintln!("drive: {trouble}");
        match trouble {
            Trouble::Usage(_) | Trouble::Refused(_) | Trouble::Answers(_) => Outcome::Usage,
            Trouble::Start(_) | Trouble::Connect(_) | Trouble::List(_) => Outcome::Trouble,
        }
    });
    // A question that was still open has left the terminal as it needed it.
    terminal::restore();
    outcome.into()
}

async fn run(options: Options) -> Result<Outcome, Trouble> {
    let words = options.words()?;
    let output = Output::new(options.json);
    let person = Person::new(&options, &output)?;
    let client = connect(&words, &options.command, person).await?;
    let outcome = match (options.resume, words.tool) {
        (Some(task), _) => drive(client.resume(task), options.timeout, output).await,
        (None, Some(tool)) => {
            let arguments = arguments::read(&client.tools().await?, &tool, &words.arguments)?;
            drive(client.call(tool, arguments), options.timeout, output).await
        }
        (None, None) => {
            output.tools(&client.tools().await?);
            Outcome::Completed
        }
    };
    // Whether it ends in order is the business of the server.
    let _closed = tokio::time::timeout(FAREWELL, client.close()).await;
    Ok(outcome)
}

/// Shows a call while it runs; Ctrl-C cancels it.
async fn drive(call: Call, timeout: Option<humantime::Duration>, output: Output) -> Outcome {
    let call = match timeout {
        Some(timeout) => call.timeout(timeout.into()),
        None => call,
    };
    let token = CancellationToken::new();
    let mut events = call.cancel_on(token.clone()).events();
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    let mut outcome = Outcome::Trouble;
    output.resume();
    loop {
        let event = tokio::select! {
            // Heard from before the call begins.
            biased;
            _ = &mut interrupt, if !token.is_cancelled() => {
                token.cancel();
                continue;
            }
            event = events.next() => event,
        };
        match event {
            None => return outcome,
            Some(Ok(event)) => {
                output.event(&event);
                outcome = match event {
                    Event::Result(result) | Event::Completed(result) => Outcome::from(&result),
                    Event::Cancelled { .. } => Outcome::Cancelled,
                    _ => outcome,
                };
            }
            Some(Err(error)) => {
                output.error(&error);
                outcome = Outcome::from(&error);
            }
        }
    }
}

async fn connect(words: &Words, command: &[String], person: Person) -> Result<Client, Trouble> {
    let builder = Client::builder("drive", env!("CARGO_PKG_VERSION")).answers(person);
    if let Some(url) = &words.url {
        let transport = StreamableHttpClientTransport::from_uri(url.as_str());
        return Ok(builder.connect(transport).await?);
    }
    let [program, arguments @ ..] = command else {
        let usage = "give the URL of a server, or `-- COMMAND` to start one";
        return Err(Trouble::Usage(usage.to_owned()));
    };
    let mut server = Command::new(program);
    server.args(arguments);
    // Ctrl-C in the terminal is meant for the call, and not for the server that is to be told.
    #[cfg(unix)]
    server.process_group(0);
    Ok(builder.connect(TokioChildProcess::new(server)?).await?)
}

impl Options {
    fn words(&self) -> Result<Words, Trouble> {
        let mut words = self.words.iter().cloned().peekable();
        let url = words.next_if(|_| self.command.is_empty());
        if let Some(word) = url.as_ref().filter(|word| !word.contains("://")) {
            let usage =
                format!("`{word}` is no URL of a server; to start one, end in `-- COMMAND`");
            return Err(Trouble::Usage(usage));
        }
        let tool = words.next();
        if let (Some(_), Some(tool)) = (&self.resume, &tool) {
            let usage = format!("`--resume` goes on with a task, so `{tool}` is not called");
            return Err(Trouble::Usage(usage));
        }
        let arguments = words.collect();
        Ok(Words {
            url,
            tool,
            arguments,
        })
    }
}
