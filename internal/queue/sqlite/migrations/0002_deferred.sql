-- Deferred results, and the marks of the processes that work on them. The text
-- is package deferred's own. Until is milliseconds since 1970, UTC; NULL is for
-- ever.
CREATE TABLE deferred (
	id      TEXT    NOT NULL UNIQUE,
	version INTEGER NOT NULL,
	until   INTEGER,
	data    BLOB    NOT NULL
) STRICT;

-- What a sweep looks for.
CREATE INDEX deferred_until ON deferred (until) WHERE until IS NOT NULL;
