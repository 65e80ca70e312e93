-- Schema of the catalog, format 3, for the test of its migration.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sites (
    site INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    name TEXT NOT NULL,
    seed INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    visited_at INTEGER,
    pages INTEGER NOT NULL DEFAULT 0,
    stored INTEGER NOT NULL DEFAULT 0,
    indexable INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,
    alias INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX sites_by_visit ON sites (visited_at) WHERE removed = 0;

CREATE TABLE pages (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    path TEXT NOT NULL,
    https INTEGER NOT NULL,
    state INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    found_at INTEGER NOT NULL,
    due INTEGER,
    anchor TEXT,
    origin TEXT,
    weight INTEGER NOT NULL DEFAULT 0,
    linked_by INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX waiting_pages ON pages (site, depth, found_at) WHERE state = 0;

CREATE INDEX scheduled_pages ON pages (site, due, depth, found_at) WHERE due IS NOT NULL;

CREATE INDEX removed_pages ON pages (site) WHERE state = 5;

CREATE TABLE visits (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    visited_at INTEGER,
    visits INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT,
    settled_at INTEGER,
    status INTEGER,
    position INTEGER,
    digest INTEGER,
    indexable INTEGER,
    text INTEGER,
    changes INTEGER NOT NULL DEFAULT 0,
    etag TEXT,
    modified TEXT,
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX visits_by_text ON visits (text) WHERE text IS NOT NULL;

CREATE TABLE versions (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    links INTEGER NOT NULL DEFAULT 0,
    new_links INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, page, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE robots (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    body BLOB,
    known_at INTEGER,
    reason TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE aliases (
    home TEXT PRIMARY KEY,
    of TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE filtered (
    rule TEXT PRIMARY KEY,
    links INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE submissions (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    accepted INTEGER
) STRICT, WITHOUT ROWID;

CREATE VIEW settings AS
    SELECT key, CASE key WHEN 'absorbed' THEN printf('%08d:%d', value >> 40, value & 1099511627775) ELSE value END
        AS value
    FROM meta;

CREATE VIEW known_sites AS
    SELECT name AS site, CASE WHEN removed THEN 'removed' WHEN seed THEN 'seed' ELSE 'found' END AS state,
        pages, pages - stored - failed - refused - deleted AS waiting, stored, indexable, failed, refused, deleted,
        strftime('%Y-%m-%dT%H:%M:%fZ', visited_at / 1000.0, 'unixepoch') AS visited_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', not_before / 1000.0, 'unixepoch') AS not_before
    FROM sites;

CREATE VIEW known_pages AS
    SELECT s.name AS site, iif(p.https, 'https://', 'http://') || s.name || p.path AS url,
        CASE p.state WHEN 0 THEN 'waiting' WHEN 1 THEN 'stored' WHEN 2 THEN 'failed' WHEN 3 THEN 'refused'
            WHEN 4 THEN 'deleted' ELSE 'removed' END AS state,
        p.depth, p.hops, p.origin, p.anchor, p.weight, p.linked_by,
        strftime('%Y-%m-%dT%H:%M:%fZ', p.found_at / 1000.0, 'unixepoch') AS found_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', iif(p.state = 0, p.found_at, p.due) / 1000.0, 'unixepoch') AS due,
        printf('%016x%016x', s.id, p.page) AS id
    FROM pages p JOIN sites s USING (site);

CREATE VIEW due AS
    SELECT url, site, depth, due, state FROM known_pages WHERE due IS NOT NULL;

CREATE VIEW outcomes AS
    SELECT iif(p.https, 'https://', 'http://') || s.name || p.path AS url,
        CASE p.state WHEN 0 THEN 'waiting' WHEN 1 THEN 'stored' WHEN 2 THEN 'failed' WHEN 3 THEN 'refused'
            WHEN 4 THEN 'deleted' ELSE 'removed' END AS state,
        v.status, v.reason, v.attempts, v.visits,
        strftime('%Y-%m-%dT%H:%M:%fZ', v.visited_at / 1000.0, 'unixepoch') AS visited_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', v.settled_at / 1000.0, 'unixepoch') AS settled_at,
        iif(v.position IS NULL, NULL, printf('%08d:%d', v.position >> 40, v.position & 1099511627775)) AS position,
        iif(v.digest IS NULL, NULL, printf('%016x', v.digest)) AS digest, v.indexable, v.changes, v.etag, v.modified
    FROM visits v JOIN pages p USING (site, page) JOIN sites s USING (site);

CREATE VIEW all_versions AS
    SELECT iif(p.https, 'https://', 'http://') || s.name || p.path AS url,
        strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS at, v.status,
        printf('%08d:%d', v.position >> 40, v.position & 1099511627775) AS position,
        printf('%016x', v.digest) AS digest, v.links, v.new_links
    FROM versions v JOIN pages p USING (site, page) JOIN sites s USING (site);

CREATE VIEW known_robots AS
    SELECT url, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at,
        CASE state WHEN 0 THEN 'missing' WHEN 1 THEN 'unreachable' ELSE 'known' END AS state,
        CAST(body AS TEXT) AS body, strftime('%Y-%m-%dT%H:%M:%fZ', known_at / 1000.0, 'unixepoch') AS known_at, reason
    FROM robots;
