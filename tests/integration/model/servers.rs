//! The two servers, and what is done to them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    child,
    history::{History, Life, What},
};
use crate::support::{Disk, Process};

/// Another life begins no sooner than this after one that ended by itself.
const PAUSE: Duration = Duration::from_millis(200);

/// A server, which may be down or stopped.
pub(super) struct Server {
    number: usize,
    process: Option<Process>,
    pub(super) life: Life,
    /// When it is continued.
    stopped: Option<Instant>,
    /// When it is started again.
    down: Instant,
    ahead: i64,
}

/// Both, and how often something was done to them.
pub(super) struct Servers {
    each: [Server; 2],
    lives: Life,
    folder: PathBuf,
    disk: PathBuf,
    history: History,
    pub(super) kills: u32,
    pub(super) stops: u32,
    pub(super) jumps: u32,
    /// How often one ended by itself.
    pub(super) ends: u32,
    /// When the last fault ended that a server may end by.
    pub(super) excused: Option<Instant>,
}

impl Servers {
    pub(super) fn new(folder: &Path, disk: &Disk) -> Self {
        let server = |number| Server {
            number,
            process: None,
            life: 0,
            stopped: None,
            down: Instant::now(),
            ahead: 0,
        };
        Self {
            each: [server(0), server(1)],
            lives: 0,
            folder: folder.into(),
            disk: disk.path().into(),
            history: History::new(folder.join("history")),
            kills: 0,
            stops: 0,
            jumps: 0,
            ends: 0,
            excused: None,
        }
    }

    /// One that takes requests, if it runs.
    pub(super) fn running(&mut self, number: usize) -> Option<(Life, &mut Process)> {
        let server = &mut self.each[number];
        if server.stopped.is_some() {
            return None;
        }
        Some((server.life, server.process.as_mut()?))
    }

    /// Starts and continues those whose time has come.
    pub(super) fn look(&mut self) {
        for number in 0..2 {
            let now = Instant::now();
            let server = &mut self.each[number];
            if server.stopped.is_some_and(|until| until <= now) {
                self.go_on(number);
            }
            let server = &mut self.each[number];
            if let Some(process) = &mut server.process {
                if process.has_ended() {
                    let excused = self.excused.is_some_and(|at| at.elapsed().as_secs() < 8);
                    assert!(excused, "life {} ended by itself", server.life);
                    self.ends += 1;
                    server.process = None;
                    server.down = now + PAUSE;
                }
            } else if server.down <= now {
                self.start(number);
            }
        }
    }

    fn start(&mut self, number: usize) {
        self.lives += 1;
        let clock = self.clock(number);
        let server = &mut self.each[number];
        server.life = self.lives;
        let variables = [
            (child::DISK, self.disk.clone().into_os_string()),
            (child::FOLDER, self.folder.clone().into_os_string()),
            (child::LIFE, server.life.to_string().into()),
            (child::CLOCK, clock.into_os_string()),
        ];
        let log = self.folder.join(format!("log-{}", server.life));
        let name = "model::child::the_server_that_is_tormented";
        server.process = Some(Process::start(name, &variables, &log));
    }

    pub(super) fn kill(&mut self, number: usize, down: Duration) {
        let server = &mut self.each[number];
        let Some(mut process) = server.process.take() else {
            return;
        };
        process.kill();
        server.stopped = None;
        server.down = Instant::now() + down;
        self.history.fault(server.life, What::Killed);
        self.kills += 1;
    }

    pub(super) fn stop(&mut self, number: usize, still: Duration) {
        let server = &mut self.each[number];
        if let (Some(process), None) = (&mut server.process, server.stopped) {
            self.history.fault(server.life, What::Stopped);
            process.signal("STOP");
            server.stopped = Some(Instant::now() + still);
            self.stops += 1;
        }
    }

    fn go_on(&mut self, number: usize) {
        let server = &mut self.each[number];
        server.stopped = None;
        if let Some(process) = &mut server.process {
            // Whatever it does comes behind it.
            self.history.fault(server.life, What::Continued);
            process.signal("CONT");
        }
    }

    pub(super) fn jump(&mut self, number: usize, by: i64) {
        self.each[number].ahead += by;
        self.set_clock(number);
        self.jumps += 1;
    }

    fn set_clock(&self, number: usize) {
        let path = self.clock(number);
        let next = path.with_extension("next");
        fs::write(&next, self.each[number].ahead.to_string()).unwrap();
        fs::rename(next, path).unwrap();
    }

    fn clock(&self, number: usize) -> PathBuf {
        self.folder.join(format!("clock-{number}"))
    }

    /// How often a worker was silent for too long, as the logs tell.
    pub(super) fn silent(&self) -> u32 {
        let logs = (1..=self.lives).map(|life| self.folder.join(format!("log-{life}")));
        let silent = logs.filter_map(|log| fs::read_to_string(log).ok());
        let silent = silent.map(|log| log.matches("a worker is silent").count());
        u32::try_from(silent.sum::<usize>()).unwrap()
    }

    /// Ends all faults. The clocks show a time behind all that they ever showed.
    pub(super) fn rest(&mut self) {
        for number in 0..2 {
            if self.each[number].stopped.is_some() {
                self.go_on(number);
            }
            self.each[number].ahead = 20 * 3_600_000;
            self.set_clock(number);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Self {
            number, process, ..
        } = self;
        if std::thread::panicking() && process.is_some() {
            println!("server {number} was in life {}", self.life);
        }
    }
}
