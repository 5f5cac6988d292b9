//! The one who writes: whatever waits goes into one transaction, and so costs one wait for the disk.

use std::{
    mem,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use rusqlite::Connection;
use tokio::{sync::oneshot, task};

use super::{
    failure::Failure,
    identity::Identity,
    watcher::Seen,
    write::{Write, write_all},
};
use crate::store::StoreError;

/// No more than this many writes go into one transaction.
const GROUP: usize = 512;

/// Writes of this process, in the order in which they were asked for.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    identity: Arc<Identity>,
    seen: Arc<Seen>,
    queue: Mutex<Queue>,
    pub(super) before_commit: BeforeCommit,
}

/// What is done in a transaction right before it is committed: nothing, but in a test.
#[derive(Default)]
pub(super) struct BeforeCommit {
    #[cfg(feature = "testing")]
    pub(super) hook: std::sync::OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Job>,
    /// The connection, while nobody writes.
    idle: Option<Connection>,
}

#[derive(Debug)]
struct Job {
    write: Write,
    done: oneshot::Sender<Told>,
}

/// What the one who asked for a write is told.
#[derive(Debug)]
enum Told {
    Done(Result<bool, Failure>),
    /// Nobody got round to it.
    Again(Write),
}

/// The right to write, for as long as there is something to write. Whatever ends it, it passes the
/// connection on.
struct Turn {
    writer: Arc<Writer>,
    connection: Option<Connection>,
}

impl Writer {
    pub(super) fn new(
        path: PathBuf,
        identity: Arc<Identity>,
        seen: Arc<Seen>,
        connection: Connection,
    ) -> Self {
        let queue = Queue {
            waiting: Vec::new(),
            idle: Some(connection),
        };
        Self {
            path,
            identity,
            seen,
            queue: queue.into(),
            before_commit: BeforeCommit::default(),
        }
    }

    /// Writes, and tells when the disk has it whether something was written: `false` where the id
    /// was there already, or the version another.
    pub(super) async fn write(self: &Arc<Self>, mut write: Write) -> Result<bool, StoreError> {
        loop {
            match self.ask(write).await {
                Ok(Told::Done(outcome)) => return Ok(outcome?),
                Ok(Told::Again(unwritten)) => write = unwritten,
                Err(_) => return Err(StoreError::new("writing panicked")),
            }
        }
    }

    /// Puts a write into the queue, and sees to it that somebody writes.
    fn ask(self: &Arc<Self>, write: Write) -> oneshot::Receiver<Told> {
        let (done, told) = oneshot::channel();
        let idle = {
            let mut queue = self.queue();
            queue.waiting.push(Job { write, done });
            queue.idle.take()
        };
        if let Some(connection) = idle {
            let turn = Turn {
                writer: self.clone(),
                connection: Some(connection),
            };
            // A thread of the runtime, not one of its own: a virtual clock stands still for it.
            task::spawn_blocking(move || turn.take());
        }
        told
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a group, and tells each how it went.
    fn group(&self, connection: &mut Connection, jobs: Vec<Job>) {
        let writes: Vec<_> = jobs.iter().map(|job| &job.write).collect();
        match self.transact(connection, &writes) {
            Ok(outcomes) => {
                for (job, written) in jobs.into_iter().zip(outcomes) {
                    job.tell(Ok(written));
                }
            }
            // One that fails is not to undo the others.
            Err(failure) if jobs.len() > 1 && !failure.is_locked() => {
                for job in jobs {
                    self.group(connection, vec![job]);
                }
            }
            Err(failure) => {
                for job in jobs {
                    job.tell(Err(failure.clone()));
                }
            }
        }
    }

    /// Writes all of it, or nothing; what it returns is on the disk.
    fn transact(
        &self,
        connection: &mut Connection,
        writes: &[&Write],
    ) -> Result<Vec<bool>, Failure> {
        let (outcomes, seq) = write_all(connection, writes, &self.before_commit)
            .map_err(|error| Failure::new(&self.path, error))?;
        // Behind the commit: what went into a file that is gone is not acknowledged.
        self.identity.check()?;
        self.seen.saw(seq);
        Ok(outcomes)
    }

    /// Does `work` with the connection that writes.
    #[cfg(test)]
    pub(super) fn with_connection<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> T {
        loop {
            // The turn that told of the last write passes the connection on just after.
            if let Some(connection) = &mut self.queue().idle {
                return work(connection);
            }
            thread::yield_now();
        }
    }
}

impl BeforeCommit {
    #[cfg_attr(
        not(feature = "testing"),
        expect(clippy::unused_self, reason = "nothing but in a test")
    )]
    pub(super) fn reached(&self) {
        #[cfg(feature = "testing")]
        if let Some(hook) = self.hook.get() {
            hook();
        }
    }
}

impl std::fmt::Debug for BeforeCommit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BeforeCommit").finish_non_exhaustive()
    }
}

impl Turn {
    /// Writes until there is nothing to write.
    fn take(mut self) {
        while let Some(jobs) = self.next_group() {
            if let Some(connection) = &mut self.connection {
                self.writer.group(connection, jobs);
                // Those who were told of it may write again: in the next group, not in the one after.
                thread::yield_now();
            }
        }
    }

    /// What is to be written next. Where that is nothing, the next to ask gets the connection: under
    /// one lock, so that nobody is overlooked.
    fn next_group(&mut self) -> Option<Vec<Job>> {
        let mut queue = self.writer.queue();
        if queue.waiting.is_empty() {
            queue.idle = self.connection.take();
            return None;
        }
        let rest = queue.waiting.len().min(GROUP);
        let rest = queue.waiting.split_off(rest);
        Some(mem::replace(&mut queue.waiting, rest))
    }
}

impl Drop for Turn {
    /// Passes the connection on where the turn did not come to its end: its runtime was shut down
    /// before it began, or it panicked. Those who wait ask again, on a runtime that is still there.
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let mut queue = self.writer.queue();
            queue.idle = Some(connection);
            let waiting = mem::take(&mut queue.waiting);
            drop(queue);
            for Job { write, done } in waiting {
                let _ = done.send(Told::Again(write));
            }
        }
    }
}

impl Job {
    fn tell(self, outcome: Result<bool, Failure>) {
        // Nobody listens where the caller went away.
        let _ = self.done.send(Told::Done(outcome));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        super::row::{JournalText, Row},
        *,
    };
    use crate::{
        SqliteStore,
        record::TaskId,
        testing::{record, step},
    };

    fn insert(id: &str) -> Write {
        Write::Insert {
            row: Row::new(Arc::new(record(id))).unwrap(),
            journal: Vec::new(),
            limit: i64::MAX,
        }
    }

    fn commit(id: &str, size: usize) -> Write {
        let change = step(&record(id), "step", &"x".repeat(size));
        Write::Commit {
            expected: change.expected,
            row: Row::new(change.record).unwrap(),
            journal: JournalText::new(&change.journal).unwrap(),
        }
    }

    #[tokio::test]
    async fn of_a_group_only_the_one_that_fails_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("tasks.db"))
            .await
            .unwrap();
        let shared = &store.shared.writer;
        shared.write(insert("a")).await.unwrap();
        let writes = [
            commit("a", 10),
            commit("a", 10), // over a version that is gone
            insert("a"),
            insert("b"),
            commit("b", 1_000_000), // more than there is space for
            insert("c"),
            Write::Remove(TaskId::from("c")),
        ];
        let (jobs, ends): (Vec<_>, Vec<_>) = writes
            .into_iter()
            .map(|write| {
                let (done, end) = oneshot::channel();
                (Job { write, done }, end)
            })
            .unzip();
        shared.with_connection(|connection| {
            connection
                .pragma_update(None, "max_page_count", 50)
                .unwrap();
            shared.group(connection, jobs);
        });
        let mut told = Vec::new();
        for end in ends {
            let Told::Done(outcome) = end.await.unwrap() else {
                panic!("it was written");
            };
            told.push(outcome.ok());
        }
        let (written, not, failed) = (Some(true), Some(false), None);
        assert_eq!(told, [written, not, not, written, failed, written, written]);
    }
}
