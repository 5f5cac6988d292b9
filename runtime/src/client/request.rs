//! `tools/call`, with the questions that come before its answer.

use std::{collections::HashMap, convert::Infallible, time::Duration};

use rmcp::{
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputRequests,
        InputResponses, ServerResult, Task,
    },
    service::{PeerRequestOptions, ServiceError},
};

use super::{CallError, Question, connection::Hearing, drive::Drive, questions::TRIES, work::On};

/// How long to wait where the server wants the call again without having asked anything.
const AGAIN: Duration = Duration::from_millis(250);

/// The round whose questions were put last. Where a server gives no state, all are one round to it.
#[derive(Debug, Default)]
struct Round {
    state: Option<String>,
    put: HashMap<String, Put>,
}

/// A question that was put.
#[derive(Debug)]
struct Put {
    /// What the person read at first.
    message: String,
    times: u32,
}

/// What became of a call.
pub(super) enum Reply {
    Result(CallToolResult),
    Task(Task),
}

impl Drive {
    /// Calls the tool, as often as the server wants it for its questions (SEP-2322).
    pub(super) async fn request(
        &self,
        mut params: CallToolRequestParams,
    ) -> Result<Reply, CallError> {
        let mut last = Round::default();
        loop {
            let round = match self.send(params.clone()).await? {
                ServerResult::CallToolResult(result) => return Ok(Reply::Result(result)),
                // Tools that have nothing to say may say nothing.
                ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
                    return Ok(Reply::Result(CallToolResult::success(Vec::new())));
                }
                ServerResult::CreateTaskResult(created) => {
                    self.work.begins(On::Task(created.task.task_id.clone()));
                    return Ok(Reply::Task(created.task));
                }
                ServerResult::InputRequiredResult(round) => round,
                other => return Err(unknown(None, other)),
            };
            if round.request_state != last.state {
                last = Round {
                    state: round.request_state.clone(),
                    put: HashMap::new(),
                };
            }
            params.request_state = round.request_state;
            let asked = round.input_requests.unwrap_or_default();
            params.input_responses = if asked.is_empty() {
                self.connection.host.sleep(AGAIN).await;
                None
            } else {
                Some(self.answer_round(asked, &mut last).await?)
            };
        }
    }

    async fn send(&self, params: CallToolRequestParams) -> Result<ServerResult, CallError> {
        let mut hearing = self.connection.hear();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut handle = self
            .connection
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options())
            .await
            .map_err(CallError::Transport)?;
        self.follows(handle.progress_token.clone());
        self.work.begins(On::Request(handle.id.clone()));
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => answer,
            unanswered = self.converse(&mut hearing) => match unanswered {
                Ok(never) => match never {},
                Err(error) => return Err(error),
            },
        };
        self.work.done();
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => Ok(result),
            Err(ServiceError::McpError(error)) => Err(CallError::Refused(error)),
            Err(error) => Err(CallError::Transport(error)),
        }
    }

    /// Answers live questions until the call has its answer.
    async fn converse(&self, hearing: &mut Hearing) -> Result<Infallible, CallError> {
        loop {
            let mut live = hearing.next().await;
            let question = Question::elicited(live.key, live.params)?;
            tokio::select! {
                answer = self.ask(question) => {
                    // The server may have lost interest.
                    let _taken = live.reply.send(answer?);
                }
                () = live.reply.closed() => {}
            }
        }
    }

    /// The answers to a round, whose keys mean nothing in the next one. What is put again under the
    /// same state was answered in a way that does not fit (SEP-2322).
    async fn answer_round(
        &self,
        asked: InputRequests,
        round: &mut Round,
    ) -> Result<InputResponses, CallError> {
        let mut questions = self.readable(asked)?;
        for question in &mut questions {
            question.violation = round.put(question);
        }
        // Others of the round come again along with the one that does not fit.
        let stuck = questions.iter().filter(|it| round.is_stuck(&it.key));
        if let Some(question) = stuck.min_by_key(|it| it.violation.is_none()) {
            let unsaid = || "it is asked again, without a reason".to_owned();
            return Err(CallError::Unfit {
                key: question.key.clone(),
                violation: question.violation.clone().unwrap_or_else(unsaid),
            });
        }
        let mut responses = InputResponses::new();
        for question in questions {
            let key = question.key.clone();
            responses.insert(key, self.ask(question).await?.into());
        }
        Ok(responses)
    }

    /// The questions, if each of them can be answered here: nobody is asked in vain.
    pub(super) fn readable(&self, asked: InputRequests) -> Result<Vec<Question>, CallError> {
        let respondent = &*self.connection.respondent;
        let questions = asked
            .into_iter()
            .map(|(key, request)| Question::read(key, request)?.put_to(respondent));
        questions.collect()
    }
}

impl Round {
    /// Counts that the question is put. Gives what was wrong with the answer before, which servers
    /// write in front of it.
    fn put(&mut self, question: &Question) -> Option<String> {
        let put = self.put.entry(question.key.clone()).or_insert_with(|| Put {
            message: question.message.clone(),
            times: 0,
        });
        put.times += 1;
        if question.message == put.message {
            return None;
        }
        let before = question.message.strip_suffix(&put.message);
        Some(before.unwrap_or(&question.message).trim_end().to_owned())
    }

    /// Whether the question was put often enough.
    fn is_stuck(&self, key: &str) -> bool {
        self.put.get(key).is_some_and(|put| put.times > TRIES)
    }
}

/// The error for an answer that is none of those known.
pub(super) fn unknown(id: Option<String>, result: ServerResult) -> CallError {
    let payload = match result {
        ServerResult::CustomResult(custom) => custom.0,
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    CallError::UnknownPayload { id, payload }
}
