//! One run of a script, up to the rest behind it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{
    check,
    client::Client,
    faults,
    history::{History, What},
    plan::{Act, Fault, Script},
    rows::{self, Row},
    servers::Servers,
};
use crate::support::Disk;

/// How long it may take until all is at rest.
const REST: Duration = Duration::from_secs(90);
const TICK: Duration = Duration::from_millis(5);

/// How often what happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) runs: u32,
    pub(super) tasks: u32,
    pub(super) legs: u32,
    pub(super) kills: u32,
    pub(super) stops: u32,
    pub(super) locks: u32,
    pub(super) full: u32,
    /// Runs on a disk that cannot be full, as no other could be mounted.
    pub(super) unmounted: u32,
    pub(super) jumps: u32,
    pub(super) cancels: u32,
    /// Servers that could not begin on a full or locked disk.
    pub(super) ends: u32,
    /// Requests that were answered with an error.
    pub(super) refused: u32,
    /// Workers that were taken for dead because they were silent.
    pub(super) silent: u32,
    /// Effects that a stopped process began when it went on, after others had taken its task.
    pub(super) overtaken: u32,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.tasks += other.tasks;
        self.legs += other.legs;
        self.kills += other.kills;
        self.stops += other.stops;
        self.locks += other.locks;
        self.full += other.full;
        self.unmounted += other.unmounted;
        self.jumps += other.jumps;
        self.cancels += other.cancels;
        self.ends += other.ends;
        self.refused += other.refused;
        self.silent += other.silent;
        self.overtaken += other.overtaken;
    }
}

/// Runs the script of `seed` with everything beside the store in `folder`, and checks what came of it.
pub(super) fn run(seed: u64, length: Duration, folder: &Path) -> Counts {
    let disk = Disk::new("16m");
    let script = Script::new(seed, length);
    let mut servers = Servers::new(folder, &disk);
    let mut client = Client::new(seed);
    let history = History::new(folder.join("history"));
    let mut counts = Counts {
        runs: 1,
        unmounted: u32::from(!disk.can_be_full()),
        ..Counts::default()
    };
    let begun = Instant::now();
    let mut acts = script.acts.into_iter().peekable();
    let mut locks = Vec::new();
    let mut full: Option<Instant> = None;
    while begun.elapsed() < script.length {
        while let Some((_, act)) = acts.next_if(|(at, _)| *at <= begun.elapsed()) {
            match act {
                Act::Call { server, plan } => client.call(&mut servers, server, &plan),
                Act::Cancel { server, which } => client.cancel(&mut servers, server, which),
                Act::Fault(Fault::Kill {
                    server,
                    down,
                    stopped,
                }) => {
                    if stopped || servers.running(server).is_some() {
                        servers.kill(server, down);
                    } else if servers.running(1 - server).is_some() {
                        servers.kill(1 - server, down);
                    }
                }
                Act::Fault(Fault::Stop { server, still }) => {
                    // Mostly somebody is left who can notice it.
                    let is_short = still < Duration::from_millis(500);
                    if is_short || servers.running(1 - server).is_some() {
                        servers.stop(server, still);
                    }
                }
                Act::Fault(Fault::Jump { server, by }) => servers.jump(server, by),
                Act::Fault(Fault::Lock { held }) => {
                    servers.excused = Some(Instant::now() + held);
                    locks.push(faults::lock(disk.store(), held));
                }
                Act::Fault(Fault::Full { full: long }) if disk.can_be_full() => {
                    history.fault(0, What::Full);
                    disk.fill();
                    counts.full += 1;
                    full = Some(Instant::now() + long);
                }
                Act::Fault(Fault::Full { .. }) => {}
            }
        }
        if full.is_some_and(|until| until <= Instant::now()) {
            disk.free();
            history.fault(0, What::Freed);
            full = None;
        }
        if full.is_some() || locks.iter().any(|lock| !lock.is_finished()) {
            servers.excused = Some(Instant::now());
        }
        servers.look();
        client.look(&mut servers);
        std::thread::sleep(TICK);
    }
    disk.free();
    history.fault(0, What::Freed);
    for lock in locks {
        counts.locks += u32::from(lock.join().unwrap());
    }
    servers.excused = Some(Instant::now());
    servers.rest();
    let rows = rest(&disk, &mut servers, &mut client);
    counts.overtaken = check::all(&history.read(), &rows, &client);
    counts.tasks = u32::try_from(rows.len()).unwrap();
    counts.legs = rows.iter().map(Row::legs).sum();
    counts.kills = servers.kills;
    counts.stops = servers.stops;
    counts.jumps = servers.jumps;
    counts.silent = servers.silent();
    counts.ends = servers.ends;
    counts.cancels = client.cancels;
    counts.refused = client.refused;
    counts
}

/// Answers everything until nothing is left to do.
fn rest(disk: &Disk, servers: &mut Servers, client: &mut Client) -> Vec<Row> {
    let begun = Instant::now();
    let mut looked = Instant::now();
    loop {
        servers.look();
        client.look(servers);
        std::thread::sleep(TICK);
        if looked.elapsed() < Duration::from_millis(100) {
            continue;
        }
        looked = Instant::now();
        let rows = match rows::read(&disk.store()) {
            Ok(rows) => rows,
            // No server has made the file yet.
            Err(error) if begun.elapsed() > REST => panic!("{error}"),
            Err(_) => continue,
        };
        for row in &rows {
            client.tasks.entry(row.id.clone()).or_default();
        }
        let restless: Vec<_> = rows.iter().filter(|row| !row.is_at_rest()).collect();
        if restless.is_empty() {
            return rows;
        }
        assert!(begun.elapsed() < REST, "no rest: {restless:#?}");
    }
}
