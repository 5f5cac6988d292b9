//! The SQL, one `const` for each statement, and the schema.
//!
//! The schema is storage format 2: a change of it is a new format, with a migration of the old.

/// Creates format 2 in an empty file.
///
/// Rows are numbered by SQLite, so that entries of a journal come at the end of their table in the
/// order in which they were written. The times are milliseconds since the Unix epoch.
pub(super) const SCHEMA: &str = "
CREATE TABLE store (
  seq  INTEGER NOT NULL, -- the number of the last write
  live INTEGER NOT NULL  -- how many executions have not ended
) STRICT;
INSERT INTO store (seq, live) VALUES (0, 0);

CREATE TABLE execution (
  number   INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  pool     TEXT NOT NULL,
  tool     TEXT NOT NULL,
  status   TEXT NOT NULL,
  avoid    TEXT,
  due_at   INTEGER,
  alarm_at INTEGER,
  worker   TEXT,             -- that holds it
  version  INTEGER NOT NULL,
  seq      INTEGER NOT NULL UNIQUE, -- the number of the last write to it
  record   TEXT NOT NULL
) STRICT;
CREATE TRIGGER execution_inserted AFTER INSERT ON execution
WHEN new.status IN ('working', 'input_required') BEGIN
  UPDATE store SET live = live + 1;
END;
CREATE TRIGGER execution_updated AFTER UPDATE OF status ON execution BEGIN
  UPDATE store SET live = live
    + (new.status IN ('working', 'input_required'))
    - (old.status IN ('working', 'input_required'));
END;
CREATE TRIGGER execution_deleted AFTER DELETE ON execution
WHEN old.status IN ('working', 'input_required') BEGIN
  UPDATE store SET live = live - 1;
END;
CREATE INDEX execution_due ON execution (pool, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX execution_worker ON execution (worker, id) WHERE worker IS NOT NULL;
CREATE INDEX execution_alarm ON execution (alarm_at, id) WHERE alarm_at IS NOT NULL;
CREATE INDEX execution_status ON execution (status, id);

CREATE TABLE worker (
  name  TEXT PRIMARY KEY,
  beats INTEGER NOT NULL -- rises for as long as it is not stopped
) STRICT;

CREATE TABLE journal (
  number    INTEGER PRIMARY KEY,
  execution INTEGER NOT NULL,
  entry     TEXT NOT NULL
) STRICT;
CREATE INDEX journal_execution ON journal (execution);
";

pub(super) const COUNT_OBJECTS: &str = "SELECT count(*) FROM sqlite_schema";

/// Changes for a connection when another one has committed.
pub(super) const DATA_VERSION: &str = "PRAGMA data_version";

pub(super) const SEQ: &str = "SELECT seq FROM store";

pub(super) const LIVE: &str = "SELECT live FROM store";

pub(super) const SET_SEQ: &str = "UPDATE store SET seq = ?1";

pub(super) const INSERT: &str = "
INSERT INTO execution
  (id, pool, tool, status, avoid, due_at, alarm_at, worker, version, seq, record)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM store WHERE live < ?12
ON CONFLICT (id) DO NOTHING";

/// Where a row is, and what its indexes hold of it.
pub(super) const FIND: &str = "
SELECT number, version, status, avoid, due_at, alarm_at, worker FROM execution WHERE id = ?1";

pub(super) const UPDATE: &str = "
UPDATE execution SET version = ?2, seq = ?3, record = ?4 WHERE number = ?1";

/// The same for a row that moves in the indexes: SQLite rewrites an index whenever a column of it is
/// named, whether or not its value changes.
pub(super) const UPDATE_INDEXED: &str = "
UPDATE execution
SET version = ?2, seq = ?3, record = ?4, status = ?5, avoid = ?6, due_at = ?7, alarm_at = ?8,
  worker = ?9
WHERE number = ?1";

pub(super) const APPEND: &str = "INSERT INTO journal (execution, entry) VALUES (?1, ?2)";

pub(super) const CLEAR: &str = "DELETE FROM journal WHERE execution = ?1";

pub(super) const REMOVE: &str = "DELETE FROM execution WHERE number = ?1";

pub(super) const LOAD: &str = "SELECT record FROM execution WHERE id = ?1";

pub(super) const JOURNAL: &str = "
SELECT entry FROM journal
WHERE execution = (SELECT number FROM execution WHERE id = ?1)
ORDER BY number";

pub(super) const RUNNABLE: &str = "
SELECT id, record, tool, avoid FROM execution
WHERE pool = ?1 AND due_at <= ?2
ORDER BY due_at, id";

pub(super) const HELD: &str = "
SELECT id, record FROM execution WHERE worker = ?1 ORDER BY id";

pub(super) const BEAT: &str = "
INSERT INTO worker (name, beats) VALUES (?1, 1)
ON CONFLICT (name) DO UPDATE SET beats = beats + 1";

pub(super) const WORKERS: &str = "SELECT name, beats FROM worker";

/// Beside them those that hold something without being known. They never beat.
pub(super) const WORKERS_AND_HOLDERS: &str = "
SELECT name, beats FROM worker
UNION ALL
SELECT DISTINCT worker, 0 FROM execution
WHERE worker IS NOT NULL AND worker NOT IN (SELECT name FROM worker)";

/// Forgets a worker that holds nothing.
pub(super) const DISMISS: &str = "
DELETE FROM worker
WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM execution WHERE worker = ?1)";

pub(super) const ALARMED: &str = "
SELECT id, record FROM execution WHERE alarm_at <= ?1 ORDER BY alarm_at, id";

pub(super) const NEXT_DUE: &str = "
SELECT min(at) FROM (
  SELECT * FROM (
    SELECT due_at AS at FROM execution WHERE pool = ?1 AND due_at > ?2 ORDER BY due_at LIMIT 1)
  UNION ALL
  SELECT * FROM (
    SELECT alarm_at AS at FROM execution WHERE alarm_at > ?2 ORDER BY alarm_at LIMIT 1))";

pub(super) const LIST: &str = "
SELECT id, record FROM execution WHERE id > ?1 ORDER BY id";

pub(super) const LIST_STATUS: &str = "
SELECT id, record FROM execution WHERE status = ?2 AND id > ?1 ORDER BY id";

pub(super) const WRITTEN_AFTER: &str = "SELECT id FROM execution WHERE seq > ?1 ORDER BY seq";
