-- The catalog, format 4. Everything in it can be derived from the library again.
--
-- The tables are packed: ten million pages that were found and not yet visited have to fit on a small disk.
-- People read the views at the end: `SELECT * FROM known_pages WHERE site = 'www.example.org'`.
--
-- Moments are milliseconds since 1970. Positions in the library are file << 40 | offset.
-- 64-bit hashes are unsigned numbers, stored in SQLite's signed integers bit by bit.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,                   -- absorbed, rules, url_normaliser
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A site is stored once; its pages refer to it by a small number that means nothing outside this file.
CREATE TABLE sites (
    site INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,             -- hash of the name: the site's id in all stores
    name TEXT NOT NULL,                     -- host, and port where it is not the usual one
    seed INTEGER NOT NULL DEFAULT 0,        -- 1: an operator named a page of it
    removed INTEGER NOT NULL DEFAULT 0,     -- 1: taken out for good; it has no pages and gets none
    visited_at INTEGER,                     -- when a page of it was last asked for
    pages INTEGER NOT NULL DEFAULT 0,       -- how many pages, without those that were removed; and of these:
    stored INTEGER NOT NULL DEFAULT 0,
    indexable INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,                     -- the server asked for patience: nothing of it is due before then
    alias INTEGER NOT NULL DEFAULT 0,       -- its pages are the same elsewhere and not asked for: 1 http, 2 https, 3 both
    asked_at INTEGER,                       -- when the server last asked for patience
    recrawl_at INTEGER                      -- when an operator last wanted all of it again: patience asked for before is over
) STRICT;

-- Which server was not asked for longest?
CREATE INDEX sites_by_visit ON sites (visited_at) WHERE removed = 0;

-- One row for each page. The pages of a site lie together. Columns that are NULL, 0 or 1 take no room but their
-- byte in the row's head, so what only few pages have stands in `visits`.
CREATE TABLE pages (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,                  -- hash of the whole address: the second half of the page's id
    path TEXT NOT NULL,                     -- path and query; the rest of the address is `https` and the site's name
    https INTEGER NOT NULL,                 -- 1: https, 0: http
    state INTEGER NOT NULL,                 -- 0 waiting, 1 stored, 2 failed, 3 refused, 4 deleted, 5 removed
    depth INTEGER NOT NULL,                 -- clicks from a seed
    hops INTEGER NOT NULL,                  -- redirects in a row that led here
    found_at INTEGER NOT NULL,
    due INTEGER,                            -- when to visit again; NULL: never. A waiting page is due at any time.
    anchor TEXT,                            -- words of the first link that led here
    origin TEXT,                            -- first address of the redirects that led here
    weight INTEGER NOT NULL DEFAULT 0,      -- 1 to 1000, expected or, once visited, true; 0: nobody asked
    linked_by INTEGER NOT NULL DEFAULT 0,   -- pages that link to it, where they are counted
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

-- Pages never asked for, in the order of asking.
CREATE INDEX waiting_pages ON pages (site, depth, found_at) WHERE state = 0;

-- Pages to be visited again. Depth and found_at are there for sorting without a look at the page.
CREATE INDEX scheduled_pages ON pages (site, due, depth, found_at) WHERE due IS NOT NULL;

-- Pages taken out for good.
CREATE INDEX removed_pages ON pages (site) WHERE state = 5;

-- What came of asking: one row for each page that was visited, or that a feed called gone.
CREATE TABLE visits (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    visited_at INTEGER,                     -- the last visit
    visits INTEGER NOT NULL,                -- answers so far
    attempts INTEGER NOT NULL,              -- tries in a row without a good answer
    reason TEXT,                            -- why it failed or was refused
    settled_at INTEGER,                     -- when the current answer was given, or the page was called gone
    status INTEGER,                         -- of the current answer, as the following
    position INTEGER,
    digest INTEGER,                         -- hash of the body
    indexable INTEGER,                      -- 1: to be found by searching
    text INTEGER,                           -- hash of the cleaned text
    changes INTEGER NOT NULL DEFAULT 0,     -- how often the text had changed
    etag TEXT,                              -- what the server recognises the answer by
    modified TEXT,
    trouble INTEGER,                        -- the page's state where that is 2 failed or 3 refused
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

-- Pages with the same text.
CREATE INDEX visits_by_text ON visits (text) WHERE text IS NOT NULL;

-- Pages that failed or were refused by the moment of that, of all sites and of one. Those of all sites lie far apart:
-- reasons are looked through without a look at the visit.
CREATE INDEX troubles ON visits (trouble, visited_at, site, page, reason) WHERE trouble IS NOT NULL;
CREATE INDEX troubles_of_site ON visits (site, trouble, visited_at, page) WHERE trouble IS NOT NULL;

-- Every answer.
CREATE TABLE versions (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    links INTEGER NOT NULL DEFAULT 0,       -- links to follow, and how many of them led to pages not known before
    new_links INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, page, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE robots (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    state INTEGER NOT NULL,                 -- 0 missing, 1 unreachable, 2 known
    body BLOB,                              -- the last file there was, and when
    known_at INTEGER,
    reason TEXT                             -- why it could not be had
) STRICT, WITHOUT ROWID;

-- Home pages of sites whose pages are the same elsewhere, and where.
CREATE TABLE aliases (
    home TEXT PRIMARY KEY,
    of TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How many links each rule of the crawl has refused.
CREATE TABLE filtered (
    rule TEXT PRIMARY KEY,
    links INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Pages that somebody proposed.
CREATE TABLE submissions (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    accepted INTEGER                        -- 1 or 0 by an operator's word; NULL: it waits for that
) STRICT, WITHOUT ROWID;

-- For people.

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
