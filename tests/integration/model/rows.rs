//! What is in the file.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// An execution with its journal.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) record: Value,
    pub(super) journal: Vec<Value>,
}

impl Row {
    pub(super) fn status(&self) -> &str {
        self.record["status"].as_str().unwrap()
    }

    /// What the tool does.
    pub(super) fn plan(&self) -> &[Value] {
        let plan = &self.record["origin"]["arguments"]["plan"];
        plan.as_array().unwrap()
    }

    /// Whether it has ended, nobody holds it, and nothing is left to clean up.
    pub(super) fn is_at_rest(&self) -> bool {
        let is_open = ["working", "input_required"].contains(&self.status());
        !is_open && self.record.get("lease").is_none() && self.record.get("closing").is_none()
    }

    pub(super) fn legs(&self) -> u32 {
        u32::try_from(self.record["legs"].as_u64().unwrap()).unwrap()
    }

    /// The keys of the entries of this kind, in their order.
    pub(super) fn keys(&self, kind: &str) -> Vec<&str> {
        let entries = self.journal.iter().filter(|entry| entry["kind"] == kind);
        entries
            .map(|entry| entry["key"].as_str().unwrap())
            .collect()
    }
}

pub(super) fn read(store: &Path) -> rusqlite::Result<Vec<Row>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut file = Connection::open_with_flags(store, flags)?;
    let file = file.transaction()?;
    let mut executions = file.prepare("SELECT number, id, record FROM execution ORDER BY id")?;
    let mut entries =
        file.prepare("SELECT entry FROM journal WHERE execution = ? ORDER BY number")?;
    let json = |text: String| serde_json::from_str(&text).unwrap();
    let executions = executions.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?))
    })?;
    let mut rows = Vec::new();
    for execution in executions {
        let (number, id, record) = execution?;
        let journal = entries.query_map([number], |row| row.get(0))?;
        rows.push(Row {
            id,
            record: json(record),
            journal: journal
                .map(|entry| entry.map(json))
                .collect::<Result<_, _>>()?,
        });
    }
    Ok(rows)
}
