-- Tasks in the order of their creation: seq grows with every commit and is the
-- place of a task in lists. Times are milliseconds since 1970, UTC.
CREATE TABLE tasks (
	seq         INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	title       TEXT    NOT NULL,
	description TEXT    NOT NULL,
	status      TEXT    NOT NULL,
	priority    INTEGER NOT NULL,
	worker      TEXT    NOT NULL DEFAULT '',
	result      TEXT    NOT NULL DEFAULT '',
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	claimed_at  INTEGER,
	done_at     INTEGER
) STRICT;

-- What a claim looks for: its first row is the next task.
CREATE INDEX tasks_ready ON tasks (priority DESC, seq) WHERE status = 'pending';

-- What a list by status walks along.
CREATE INDEX tasks_status ON tasks (status, seq);

-- Which migrations the file has had, and from which version of the program.
CREATE TABLE migrations (
	version    INTEGER PRIMARY KEY,
	name       TEXT    NOT NULL,
	program    TEXT    NOT NULL,
	applied_at INTEGER NOT NULL
) STRICT;
