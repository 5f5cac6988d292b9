//! Steps that are tried more than once, and steps that fan out.

use std::{sync::Arc, time::Duration};

use backon::BackoffBuilder;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde::{Serialize, de::DeserializeOwned};

use super::step::{StepOutcome, keep, outcome};
use crate::{
    Result,
    engine::leg::{Entered, Fault, Leg, Operation},
    journal::{Entry, Kind},
};

/// Runs what `attempt` makes until it goes well or `policy` gives up.
///
/// Only the last outcome is journaled: the attempts are one step.
pub(super) async fn retried<F, T>(
    leg: Arc<Leg>,
    policy: impl BackoffBuilder,
    mut attempt: impl FnMut() -> F,
) -> Result<T>
where
    F: Future,
    F::Output: StepOutcome<Value = T>,
{
    let mut pauses = policy.build();
    loop {
        let ended = attempt().await.into_result();
        let Err(error) = ended else { return ended };
        let Some(pause) = pauses.next() else {
            return Err(error);
        };
        tracing::debug!(%error, ?pause, "a step is tried again");
        wait(&leg, pause).await;
    }
}

async fn wait(leg: &Leg, pause: Duration) {
    leg.host.sleep(pause).await;
}

/// Runs a step for each item at once; gives the values in the order of the items.
pub(super) async fn all<I, F, T>(
    leg: Arc<Leg>,
    name: String,
    items: Vec<I>,
    run: impl Fn(I) -> F,
) -> Result<Vec<T>>
where
    F: Future,
    F::Output: StepOutcome<Value = T>,
    T: Serialize + DeserializeOwned,
{
    let entered = leg.enter(Operation {
        kind: Kind::Group,
        name: &name,
        was: &[],
        place: None,
    });
    let key = match entered {
        Entered::Closed(error) => return Err(error),
        Entered::Stopped => return std::future::pending().await,
        Entered::Live(key) => {
            leg.note(Entry::group(&key, items.len()));
            key
        }
        Entered::Replayed(entry) => {
            if entry.tells::<usize>().ok() != Some(items.len()) {
                leg.stop(Fault::group_changed(entry.key(), items.len()));
                return std::future::pending().await;
            }
            entry.key().into()
        }
    };
    let _in_flight = leg.step_started();
    if !leg.flush().await {
        return std::future::pending().await;
    }
    let members = items.into_iter().enumerate().map(|(place, item)| {
        let (leg, key) = (&leg, format!("{key}/{place}"));
        let done = leg.belonging(Kind::Member, &key);
        // On a replay the future of a member that is done is made, and dropped unpolled.
        let future = run(item);
        async move {
            let ended = if let Some(entry) = done {
                outcome(leg, &entry).await
            } else if leg.is_closing() {
                // It may have run when the leg before this one ended.
                Err(leg.cut_off(&key))
            } else {
                let under_way = leg.effect_begins();
                let ended = future.await.into_result();
                under_way.ended();
                let ended = ended.map_err(|error| leg.disclose(error));
                let (entry, ended) = Entry::ended(Kind::Member, &key, ended, leg.value_limit());
                keep(leg, entry, ended).await
            };
            (place, ended)
        }
    });
    let mut ended: Vec<(usize, Result<T>)> =
        members.collect::<FuturesUnordered<_>>().collect().await;
    ended.sort_by_key(|(place, _)| *place);
    ended.into_iter().map(|(_, ended)| ended).collect()
}
