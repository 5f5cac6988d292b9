//! A client of both servers: calls, polls, answers and cancels, and keeps what it was told.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{dice::Dice, history::Life, plan::Op, servers::Servers};
use crate::support::accepted;

/// A response that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(12);
/// How long a task is left alone between two polls.
const POLL: Duration = Duration::from_millis(60);

/// What waits for a response.
enum Waiting {
    Create,
    Get {
        task: String,
        began: Instant,
    },
    Answer {
        task: String,
        question: String,
        number: usize,
    },
    Cancel {
        task: String,
    },
}

/// An answer that was sent.
pub(super) struct Answer {
    pub(super) value: String,
    pub(super) sent: Instant,
    pub(super) acknowledged: Option<Instant>,
}

/// What a client knows of a task.
#[derive(Default)]
pub(super) struct Task {
    polled: Option<Instant>,
    /// When a cancel was acknowledged first.
    pub(super) cancelled: Option<Instant>,
    /// The terminal status that was seen, with the time of the request.
    pub(super) end: Option<String>,
    pub(super) answers: BTreeMap<String, Vec<Answer>>,
}

pub(super) struct Client {
    dice: Dice,
    waiting: HashMap<(Life, u64), (Waiting, Instant)>,
    pub(super) tasks: BTreeMap<String, Task>,
    pub(super) cancels: u32,
    pub(super) refused: u32,
    answers: u64,
}

impl Client {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            waiting: HashMap::new(),
            tasks: BTreeMap::new(),
            cancels: 0,
            refused: 0,
            answers: 0,
        }
    }

    pub(super) fn call(&mut self, servers: &mut Servers, server: usize, plan: &[Op]) {
        let call = json!({ "name": "play", "arguments": { "plan": plan } });
        self.send(servers, server, "tools/call", call, Waiting::Create);
    }

    pub(super) fn cancel(&mut self, servers: &mut Servers, server: usize, which: u64) {
        let open: Vec<_> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.end.is_none())
            .collect();
        if open.is_empty() {
            return;
        }
        let which = usize::try_from(which % open.len() as u64).unwrap();
        let task = open[which].0.clone();
        let params = json!({ "taskId": task });
        self.send(
            servers,
            server,
            "tasks/cancel",
            params,
            Waiting::Cancel { task },
        );
    }

    /// Takes what came back, and polls what may have changed.
    pub(super) fn look(&mut self, servers: &mut Servers) {
        for number in 0..2 {
            let Some((life, process)) = servers.running(number) else {
                continue;
            };
            let mut received = Vec::new();
            while let Some((id, response)) = process.received() {
                received.push((id, response));
            }
            for (id, response) in received {
                if let Some((waiting, _)) = self.waiting.remove(&(life, id)) {
                    self.hear(servers, waiting, response);
                }
            }
        }
        self.waiting
            .retain(|_, (_, since)| since.elapsed() < PATIENCE);
        let due = |task: &Task| task.polled.is_none_or(|at| at.elapsed() > POLL);
        let due = self.tasks.iter().filter(|(_, task)| due(task));
        let due: Vec<_> = due.map(|(id, _)| id.clone()).collect();
        for task in due {
            // What has ended stays as it is: looked at again sometimes.
            if self.tasks[&task].end.is_none() || self.dice.one_in(20) {
                let params = json!({ "taskId": task });
                let began = Instant::now();
                let waiting = Waiting::Get {
                    task: task.clone(),
                    began,
                };
                let server = self.dice.server();
                self.send(servers, server, "tasks/get", params, waiting);
            }
            self.tasks.get_mut(&task).unwrap().polled = Some(Instant::now());
        }
    }

    fn send(
        &mut self,
        servers: &mut Servers,
        server: usize,
        method: &str,
        params: Value,
        waiting: Waiting,
    ) {
        let other = servers.running(server).is_none();
        let server = if other { 1 - server } else { server };
        if let Some((life, process)) = servers.running(server) {
            let id = process.send(method, params);
            self.waiting.insert((life, id), (waiting, Instant::now()));
        }
    }

    fn hear(&mut self, servers: &mut Servers, waiting: Waiting, response: Result<Value, Value>) {
        let Ok(result) = response else {
            self.refused += 1;
            return;
        };
        match waiting {
            Waiting::Create => {
                let id = result["taskId"]
                    .as_str()
                    .unwrap_or_else(|| panic!("no task: {result}"));
                self.tasks.entry(id.into()).or_default();
            }
            Waiting::Get { task, began } => self.seen(servers, &task, began, &result),
            Waiting::Answer {
                task,
                question,
                number,
            } => {
                let answers = &mut self.tasks.get_mut(&task).unwrap().answers;
                answers.get_mut(&question).unwrap()[number].acknowledged = Some(Instant::now());
            }
            Waiting::Cancel { task } => {
                let known = self.tasks.get_mut(&task).unwrap();
                known.cancelled.get_or_insert_with(Instant::now);
                self.cancels += 1;
            }
        }
    }

    fn seen(&mut self, servers: &mut Servers, id: &str, began: Instant, seen: &Value) {
        let status = seen["status"].as_str().unwrap();
        let task = self.tasks.get_mut(id).unwrap();
        let is_over = ["completed", "failed", "cancelled"].contains(&status);
        if task.cancelled.is_some_and(|at| at < began) {
            assert!(
                is_over,
                "{id} is `{status}` after its cancel was acknowledged"
            );
        }
        if is_over {
            let before = task.end.get_or_insert_with(|| status.into());
            assert_eq!(before, status, "{id} has another end than before");
        }
        let asked = seen["inputRequests"].as_object();
        let asked: Vec<_> = asked
            .into_iter()
            .flat_map(|asked| asked.keys().cloned())
            .collect();
        for question in asked {
            // Some answers come late, some twice, and some to both servers at once.
            if self.dice.one_in(2) {
                let first = self.dice.server();
                self.answer(servers, id, &question, first);
                if self.dice.one_in(3) {
                    self.answer(servers, id, &question, 1 - first);
                }
            }
        }
    }

    fn answer(&mut self, servers: &mut Servers, id: &str, question: &str, server: usize) {
        self.answers += 1;
        let value = format!("answer {}", self.answers);
        let task = self.tasks.get_mut(id).unwrap();
        let answers = task.answers.entry(question.into()).or_default();
        answers.push(Answer {
            value: value.clone(),
            sent: Instant::now(),
            acknowledged: None,
        });
        let waiting = Waiting::Answer {
            task: id.into(),
            question: question.into(),
            number: answers.len() - 1,
        };
        let answer = json!({ question: accepted(json!({ "value": value })) });
        let params = json!({ "taskId": id, "inputResponses": answer });
        self.send(servers, server, "tasks/update", params, waiting);
    }
}
