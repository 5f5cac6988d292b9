//! What happened, in the order in which it happened: one file, to which all processes append.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

/// Who made a line: the number of a process, counted over both servers.
pub(super) type Life = u64;

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) life: Life,
    pub(super) task: String,
    /// Tells this leg from all others.
    pub(super) leg: String,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum What {
    /// The function began, at the top.
    Leg,
    /// An effect begins. Its key at the other side comes along.
    Begin {
        key: String,
        once: bool,
        idempotency: String,
    },
    /// An effect ended, with this value.
    End {
        key: String,
        value: String,
    },
    /// The function went on with this value, so it is in the journal.
    Got {
        key: String,
        value: String,
    },
    /// This process does not run from here on, and from `Continued` it does.
    Stopped,
    Continued,
    /// This process was killed.
    Killed,
    /// From here on writes may fail for some and not for others.
    Full,
    Freed,
}

/// The file.
#[derive(Debug)]
pub(super) struct History(PathBuf);

impl History {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Appends one line in one write.
    pub(super) fn add(&self, line: &Line) {
        let mut text = serde_json::to_string(line).unwrap();
        text.push('\n');
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Appends what happened to a process from outside.
    pub(super) fn fault(&self, life: Life, what: What) {
        let (task, leg) = (String::new(), String::new());
        self.add(&Line {
            life,
            task,
            leg,
            what,
        });
    }

    pub(super) fn read(&self) -> Vec<Line> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
