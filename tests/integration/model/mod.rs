//! Random tools on two servers with one file, which are killed, stopped and robbed of their disk, their
//! lock and their time: whatever happens, what is promised holds.
//!
//! `SIDING_MODEL_SEED=7` repeats a run, `SIDING_MODEL_MINUTES=30` runs new ones for so long.

mod check;
mod child;
mod client;
mod dice;
mod faults;
mod history;
mod plan;
mod rows;
mod run;
mod servers;

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use self::run::{Counts, run};

/// The runs of an ordinary test, and how long each has faults.
const SEEDS: [u64; 4] = [1, 5, 7, 8];
const LENGTH: Duration = Duration::from_secs(5);
/// The same where there is time.
const LONGER: Duration = Duration::from_secs(20);

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("`{variable}` is a number")),
    )
}

/// Runs a seed; if it fails, says how to run it again, and keeps what it left.
fn tried(seed: u64, length: Duration) -> Counts {
    let folder = tempfile::tempdir().unwrap();
    match catch_unwind(AssertUnwindSafe(|| run(seed, length, folder.path()))) {
        Ok(counts) => counts,
        Err(panic) => {
            println!("SIDING_MODEL_SEED={seed} runs it again, with faults for {length:?}");
            println!(
                "its history and its logs are in {}",
                folder.keep().display()
            );
            resume_unwind(panic);
        }
    }
}

#[test]
fn whatever_happens_to_two_servers_what_is_promised_holds() {
    let mut counts = Counts::default();
    let begun = Instant::now();
    let length = if env::var_os("SIDING_MODEL_LONGER").is_some() {
        LONGER
    } else {
        LENGTH
    };
    match (number("SIDING_MODEL_SEED"), number("SIDING_MODEL_MINUTES")) {
        (Some(seed), _) => counts.add(tried(seed, length)),
        (None, Some(minutes)) => {
            let first = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let mut seed = u64::try_from(first.as_millis()).unwrap();
            while begun.elapsed() < Duration::from_mins(minutes) {
                // Short ones and long ones.
                counts.add(tried(seed, if seed % 4 == 0 { LONGER } else { LENGTH }));
                seed += 1;
            }
        }
        (None, None) => {
            for seed in SEEDS {
                counts.add(tried(seed, length));
            }
        }
    }
    if counts.unmounted > 0 {
        println!("NOT TESTED: a full disk, as no tmpfs can be mounted here, which needs root");
    }
    println!("{counts:#?}");
}
