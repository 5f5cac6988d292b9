//! Questions to a client that waits for the call: older ones, which know no other way.

use std::{sync::Arc, time::Duration};

use super::form::{Answer, Ask};
use crate::{
    Result, ToolError,
    engine::leg::{Leg, Link},
};

/// A client that answers a question wrongly so many times in a row will not answer it at all.
const ATTEMPTS: u32 = 10;

/// Asks until the answer fits, or nobody waits for it any more.
pub(super) async fn ask(
    leg: Arc<Leg>,
    link: Arc<dyn Link>,
    key: String,
    ask: Ask,
    timeout: Option<Duration>,
) -> Result<Answer> {
    let timed_out = async {
        match timeout {
            Some(timeout) => leg.host.sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        answer = ask_patiently(&leg, &*link, &key, &ask) => answer,
        () = timed_out => Err(ToolError::timed_out(&key)),
    }
}

async fn ask_patiently(leg: &Leg, link: &dyn Link, key: &str, ask: &Ask) -> Result<Answer> {
    // Older protocols want an id of a question to be the only one of its kind.
    let id = format!("{}/{key}", leg.origin.id);
    let mut put = ask.clone();
    for _ in 0..ATTEMPTS {
        let response = link.elicit(&id, &put).await.map_err(|why| {
            ToolError::cannot_ask(format!("this client could not ask `{key}`: {why}"))
        })?;
        match ask.read(response) {
            Ok(answer) => return Ok(answer),
            Err(violation) => put = ask.again(&violation),
        }
    }
    Err(ToolError::cannot_ask(format!(
        "this client gave {ATTEMPTS} answers to `{key}` that do not fit"
    )))
}
