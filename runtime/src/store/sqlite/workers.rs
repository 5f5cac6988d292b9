//! The workers on a file: each keeps a lock that ends with its process, and a count that rises for as
//! long as the process is not stopped.
//!
//! A thread of its own does both, on a connection of its own: neither code of an author that blocks
//! every thread of the runtime nor a backlog of writes can make a worker look dead.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io, mem,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::watch;

use super::{
    connection,
    failure::{Failure, Unusable},
    identity::Identity,
    statement,
};
use crate::store::{DeadWorker, Deaths, Life, StoreError, liveness::Liveness};

/// How long a death may stay unseen.
const LOOK: Duration = Duration::from_millis(200);
/// How long a worker waits between two beats.
const BEAT: Duration = Duration::from_secs(5);

/// How often it is tried to make a lock in a folder that others remove.
const TRIES: u32 = 100;

/// The workers of this process, on whatever file. None of them is dead, whatever the others hear.
static LIVING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn living() -> MutexGuard<'static, BTreeSet<String>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a process knows of the workers on a file.
#[derive(Debug)]
pub(super) struct Workers {
    /// Where the locks are.
    folder: PathBuf,
    state: Mutex<State>,
    wake: Condvar,
    /// How many deaths were noticed.
    deaths: watch::Sender<u64>,
    identity: Arc<Identity>,
}

#[derive(Debug, Default)]
struct State {
    /// Those of this store.
    own: BTreeSet<String>,
    /// Those that are dead, with the lock of those whose process is gone: nobody else is told of
    /// them while it is held.
    dead: BTreeMap<String, Option<File>>,
    /// Those that are dead, and hold only what newer versions can read.
    left_alone: BTreeSet<String>,
    /// Those that ended in order, with their locks, as long as their rows are there.
    gone: Vec<(String, File)>,
    /// Another pause between two beats.
    every: Option<Duration>,
    thread: Option<Thread>,
}

/// The thread that beats and looks.
#[derive(Debug)]
struct Thread {
    handle: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

/// A worker of this process, for as long as it lives.
struct Alive {
    workers: Arc<Workers>,
    name: String,
    lock: Option<File>,
}

impl Workers {
    pub(super) fn new(path: &Path, identity: Arc<Identity>) -> Self {
        let mut folder = OsString::from(path);
        folder.push("-workers");
        Self {
            folder: folder.into(),
            state: Mutex::default(),
            wake: Condvar::new(),
            deaths: watch::Sender::new(1),
            identity,
        }
    }

    /// Another pause between two beats.
    #[cfg(feature = "testing")]
    pub(super) fn beat_every(&self, every: Duration) {
        self.state().every = Some(every);
    }

    /// Makes a worker known, and looks at the others once.
    pub(super) fn enlist(self: &Arc<Self>, path: &Path, name: &str) -> Result<Life, StoreError> {
        let unusable = |error| Unusable::Locks(self.folder.clone(), error);
        let lock = self.lock(name).map_err(unusable)?;
        let connection = connection::beating(path)?;
        let fail = |error| Failure::new(path, error);
        // Behind the lock: whoever finds the name finds it locked.
        beat(&connection, [name]).map_err(fail)?;
        self.state().own.insert(name.into());
        living().insert(name.into());
        let alive = Alive {
            workers: self.clone(),
            name: name.into(),
            lock: Some(lock),
        };
        let own = self.state().own.clone();
        if let Err(error) = self.look(&connection, &own) {
            tracing::warn!(%error, "the other workers cannot be looked at yet");
        }
        let mut state = self.state();
        if state.thread.is_none() {
            let (workers, stop) = (self.clone(), Arc::new(AtomicBool::new(false)));
            let stopped = stop.clone();
            let thread = thread::Builder::new().name("siding-workers".into());
            let handle = thread.spawn(move || workers.run(&connection, &stopped));
            let handle = handle.map_err(StoreError::new)?;
            state.thread = Some(Thread { handle, stop });
        }
        drop(state);
        Ok(Life::new(alive))
    }

    /// Waits for more than `after` deaths, then gives the dead.
    pub(super) async fn deaths(&self, after: u64) -> Result<Deaths, StoreError> {
        let mut deaths = self.deaths.subscribe();
        let waited = deaths.wait_for(|number| *number > after).await;
        let upto = *waited.map_err(StoreError::new)?;
        let state = self.state();
        let workers = state.dead.iter().map(|(name, lock)| DeadWorker {
            name: name.clone(),
            certain: lock.is_some(),
        });
        Ok(Deaths {
            upto,
            workers: workers.collect(),
        })
    }

    /// Whether the worker can never claim anything again: its process is gone, or nobody can tell any
    /// more. One that is only silent is known for as long as its process may wake up.
    pub(super) fn is_gone(&self, name: &str) -> bool {
        let is_certain = matches!(self.state().dead.get(name), Some(Some(_)));
        is_certain || !self.lock_of(name).exists()
    }

    /// All that this version can read was taken from a worker that is gone, which is forgotten if that
    /// was everything.
    pub(super) fn dismissed(&self, name: &str, forgotten: bool) {
        let mut state = self.state();
        let is_gone = matches!(state.dead.remove(name), Some(Some(_)));
        if !forgotten {
            state.left_alone.insert(name.into());
        }
        let was_left = forgotten && state.left_alone.remove(name);
        drop(state);
        if forgotten && (is_gone || was_left) {
            self.remove_lock(name);
        }
    }

    /// Those who wait for deaths are told of all that are dead.
    pub(super) fn announce(&self) {
        self.deaths.send_modify(|number| *number += 1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes a lock, and takes it.
    fn lock(&self, name: &str) -> io::Result<File> {
        let path = self.lock_of(name);
        let mut tries = 0;
        let lock = loop {
            fs::create_dir_all(&self.folder)?;
            match open(&path, true) {
                // The last of the others has just removed the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                    tries += 1;
                }
                opened => break opened?,
            }
        };
        lock.try_lock()?;
        Ok(lock)
    }

    fn remove_lock(&self, name: &str) {
        // What stays behind is an empty file that says nothing.
        let _ = fs::remove_file(self.lock_of(name));
        let _ = fs::remove_dir(&self.folder);
    }

    /// Beats and looks until it is stopped.
    #[expect(
        clippy::disallowed_methods,
        reason = "other processes have no virtual clock"
    )]
    fn run(&self, connection: &Connection, stop: &AtomicBool) {
        let mut liveness = Liveness::default();
        let mut beaten = Instant::now();
        loop {
            let idle = |state: &mut State| state.gone.is_empty() && !stop.load(Relaxed);
            let waited = self.wake.wait_timeout_while(self.state(), LOOK, idle);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let gone = mem::take(&mut state.gone);
            let own = state.own.clone();
            let every = state.every.unwrap_or(BEAT);
            drop(state);
            for (name, lock) in gone {
                self.leave(connection, &name, lock);
            }
            if stop.load(Relaxed) {
                return;
            }
            // A failure that stays is met by every write; here there is another beat.
            let _told = self.identity.check();
            if let Err(error) = self.look(connection, &own) {
                tracing::debug!(%error, "the other workers cannot be looked at");
            }
            if beaten.elapsed() < every {
                continue;
            }
            beaten = Instant::now();
            let others = beat(connection, own.iter().map(String::as_str))
                .and_then(|()| others(connection, &own, statement::WORKERS_AND_HOLDERS));
            match others {
                Ok(others) => self.silent(liveness.beat(others)),
                Err(error) => {
                    tracing::warn!(%error, "a heartbeat failed");
                    liveness.missed();
                }
            }
        }
    }

    /// Forgets a worker that ended in order, unless it still holds something: then its lock is free,
    /// and whoever goes on with that forgets it.
    fn leave(&self, connection: &Connection, name: &str, lock: File) {
        if matches!(connection.execute(statement::DISMISS, [name]), Ok(1)) {
            self.remove_lock(name);
        }
        drop(lock);
    }

    /// Takes the locks of those whose process is gone.
    fn look(&self, connection: &Connection, own: &BTreeSet<String>) -> rusqlite::Result<()> {
        for (name, _) in others(connection, own, statement::WORKERS)? {
            let state = self.state();
            if state.left_alone.contains(&name) || matches!(state.dead.get(&name), Some(Some(_))) {
                continue;
            }
            drop(state);
            // Without a file nothing is known: somebody may have deleted it.
            let Ok(lock) = open(&self.lock_of(&name), false) else {
                continue;
            };
            if lock.try_lock().is_ok() {
                tracing::warn!(worker = name, "the process of a worker is gone");
                self.died(name, Some(lock));
            }
        }
        Ok(())
    }

    /// Those that were silent for too long, and no others. They are told of again at each beat: one may
    /// have woken up for a moment, and taken something.
    fn silent(&self, mut silent: Vec<String>) {
        silent.retain(|name| !living().contains(name));
        let is_silent = |name: &String| silent.contains(name);
        let mut state = self.state();
        state
            .dead
            .retain(|name, lock| lock.is_some() || is_silent(name));
        let known =
            |name: &String| state.dead.contains_key(name) || state.left_alone.contains(name);
        let new: Vec<_> = silent.iter().filter(|name| !known(name)).cloned().collect();
        let again = state.dead.values().any(Option::is_none);
        drop(state);
        if again {
            self.announce();
        }
        for name in new {
            tracing::warn!(
                worker = name,
                "a worker is silent; its tasks go on elsewhere"
            );
            self.died(name, None);
        }
    }

    fn died(&self, name: String, lock: Option<File>) {
        self.state().dead.insert(name, lock);
        self.announce();
    }
}

impl Drop for Alive {
    /// Waits until the connection of the thread is closed: SQLite clears its log away with the last
    /// one.
    fn drop(&mut self) {
        let name = mem::take(&mut self.name);
        living().remove(&name);
        let mut state = self.workers.state();
        state.own.remove(&name);
        // Without a thread nobody would let go of the lock.
        if let Some(lock) = self.lock.take().filter(|_| state.thread.is_some()) {
            state.gone.push((name, lock));
        }
        let last = state.own.is_empty();
        let thread = state.thread.take_if(|_| last);
        if let Some(thread) = &thread {
            thread.stop.store(true, Relaxed);
        }
        drop(state);
        self.workers.wake.notify_all();
        if let Some(thread) = thread {
            // It has nothing to tell, not even of a panic.
            let _ = thread.handle.join();
        }
    }
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(create)
        .truncate(false)
        .open(path)
}

fn beat<'a>(
    connection: &Connection,
    workers: impl IntoIterator<Item = &'a str>,
) -> rusqlite::Result<()> {
    let mut beat = connection.prepare_cached(statement::BEAT)?;
    for worker in workers {
        beat.execute([worker])?;
    }
    Ok(())
}

/// The others that a statement gives, with their counts.
fn others(
    connection: &Connection,
    own: &BTreeSet<String>,
    workers: &str,
) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut read = connection.prepare_cached(workers)?;
    let workers = read.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    let workers = workers.filter(|worker| match worker {
        Ok((name, _)) => !own.contains(name),
        Err(_) => true,
    });
    workers
        .map(|worker| worker.map(|(name, count)| (name, count.cast_unsigned())))
        .collect()
}
