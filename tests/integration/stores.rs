//! Every store keeps to the published list.

use std::{collections::HashMap, sync::Mutex};

use siding::{
    MemoryStore, SqliteStore, Store,
    record::TaskId,
    store::{Creation, Swap},
    testing::{Fault, FaultyStore, record, step, store_conformance},
};
use tokio::time::{Duration, Instant};

/// Opens memory stores by name.
#[derive(Debug, Default)]
struct Memory(Mutex<HashMap<String, MemoryStore>>);

impl Memory {
    fn open(&self, name: &str) -> MemoryStore {
        let mut stores = self.0.lock().unwrap();
        stores.entry(name.to_owned()).or_default().clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s01_the_memory_store_keeps_to_the_list() {
    let stores = Memory::default();
    store_conformance::all(async |name| stores.open(name)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s01_the_sqlite_store_keeps_to_the_list() {
    let folder = tempfile::tempdir().unwrap();
    store_conformance::all(async |name| SqliteStore::open(folder.path().join(name)).await.unwrap())
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s01_a_store_without_faults_keeps_to_the_list_under_the_wrapper_for_faults() {
    let stores = Memory::default();
    store_conformance::all(async |name| FaultyStore::new(stores.open(name))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s02_a_thousand_parallel_creates_are_known_to_every_process_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |name: &str| SqliteStore::open(folder.path().join(name)).await.unwrap();
    store_conformance::shows_a_thousand_parallel_creates_at_once(&open).await;
}

#[tokio::test(start_paused = true)]
async fn a_faulty_store_meets_each_fault_at_its_write() {
    let kept = MemoryStore::new();
    let store = FaultyStore::new(kept.clone())
        .on(1, Fault::Lost)
        .on(3, Fault::Unheard)
        .on(4, Fault::Twice)
        .on(5, Fault::Late(Duration::from_secs(7)))
        .on(6, Fault::Last);
    let (id, first) = (TaskId::from("a"), record("a"));
    store
        .insert(Creation::new(first.clone()))
        .await
        .unwrap_err();
    assert_eq!(kept.load(&id).await.unwrap(), None);
    store.insert(Creation::new(first.clone())).await.unwrap();

    let second = step(&first, "unheard", &1);
    store.commit(second.clone()).await.unwrap_err();
    assert_eq!(kept.load(&id).await.unwrap().as_ref(), Some(&second.record));

    let third = step(&second.record, "twice", &2);
    assert_eq!(store.commit(third.clone()).await.unwrap(), Swap::Refused);
    assert_eq!(kept.journal(&id).await.unwrap().len(), 2);

    let before = Instant::now();
    let fourth = step(&third.record, "late", &3);
    assert_eq!(store.commit(fourth.clone()).await.unwrap(), Swap::Done);
    assert_eq!(before.elapsed().as_secs(), 7);

    let fifth = step(&fourth.record, "last", &4);
    store.commit(fifth.clone()).await.unwrap_err();
    assert_eq!(store.writes(), 6);
    store.load(&id).await.unwrap_err();
    store.remove(&id).await.unwrap_err();
    assert_eq!(kept.load(&id).await.unwrap(), Some(fifth.record));
}
