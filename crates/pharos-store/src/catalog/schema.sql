-- Schema of the catalog, format 6. All data is derived from the library.
--
-- The tables are compact: ten million pages that were discovered and not yet visited must fit on a small disk.
-- The views at the end are for interactive use: `SELECT * FROM known_pages WHERE site = 'www.example.org'`.
--
-- Times are milliseconds since 1970. Library positions are file << 40 | offset.
-- 64-bit hashes are unsigned and stored bit by bit in SQLite's signed integers.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,                   -- absorbed, rules, url_normaliser, refresh …
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Sites. Pages refer to a site by a small row number that has no meaning outside this file.
CREATE TABLE sites (
    site INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,             -- hash of the name: the site's id in all stores
    name TEXT NOT NULL,                     -- host, and port unless it is the default port
    seed INTEGER NOT NULL DEFAULT 0,        -- 1: the site has a seed
    removed INTEGER NOT NULL DEFAULT 0,     -- 1: removed permanently; it has no pages and gets none
    visited_at INTEGER,                     -- time of the last request
    pages INTEGER NOT NULL DEFAULT 0,       -- number of pages without removed ones; of these:
    stored INTEGER NOT NULL DEFAULT 0,
    indexable INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,                     -- back-off requested by the server: no page is due before this time
    alias INTEGER NOT NULL DEFAULT 0,       -- mirror, not fetched: 1 http, 2 https, 3 both
    asked_at INTEGER,                       -- time of the last back-off request
    recrawl_at INTEGER                      -- last whole-site recrawl request: earlier back-offs have ended
) STRICT;

-- Sites by last visit.
CREATE INDEX sites_by_visit ON sites (visited_at) WHERE removed = 0;

-- One row per page, clustered by site. Columns that are NULL, 0 or 1 take only one byte in the row header; columns
-- that few pages have are in `visits`.
CREATE TABLE pages (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,                  -- hash of the URL: the second half of the page id
    path TEXT NOT NULL,                     -- path and query; the rest of the URL is `https` and the site name
    https INTEGER NOT NULL,                 -- 1: https, 0: http
    state INTEGER NOT NULL,                 -- 0 waiting, 1 stored, 2 failed, 3 refused, 4 deleted, 5 removed,
                                            -- 6 quarantined
    depth INTEGER NOT NULL,                 -- link distance from a seed
    hops INTEGER NOT NULL,                  -- consecutive redirects that led here
    found_at INTEGER NOT NULL,
    due INTEGER,                            -- time of the next visit; NULL: none. Waiting pages are due at any time.
    anchor TEXT,                            -- anchor text of the first link that led here
    origin TEXT,                            -- first URL of the redirects that led here
    weight INTEGER NOT NULL DEFAULT 0,      -- 1 to 1000, expected, or measured after a visit; 0: not computed
    linked_by INTEGER NOT NULL DEFAULT 0,   -- number of pages that link to it, if counted
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

-- Pages never fetched, in breadth-first order.
CREATE INDEX waiting_pages ON pages (site, depth, found_at) WHERE state = 0;

-- Scheduled pages. Depth and found_at allow sorting without a lookup of the page.
CREATE INDEX scheduled_pages ON pages (site, due, depth, found_at) WHERE due IS NOT NULL;

-- Permanently removed pages.
CREATE INDEX removed_pages ON pages (site) WHERE state = 5;

-- One row per page that was visited or reported as deleted by a feed.
CREATE TABLE visits (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    visited_at INTEGER,                     -- time of the last visit
    visits INTEGER NOT NULL,                -- number of responses
    attempts INTEGER NOT NULL,              -- consecutive attempts without a successful response
    reason TEXT,                            -- reason of the problem
    settled_at INTEGER,                     -- time of the current response, or of the deletion
    status INTEGER,                         -- of the current response, as the following columns
    position INTEGER,
    digest INTEGER,                         -- hash of the body
    indexable INTEGER,                      -- 1: indexed
    text INTEGER,                           -- hash of the cleaned text
    changes INTEGER NOT NULL DEFAULT 0,     -- number of visits that found a changed text
    etag TEXT,                              -- validators of the current response
    modified TEXT,
    trouble INTEGER,                        -- problem of the last visit: 2 failed, 3 refused, 6 quarantined,
                                            -- 7 not found, 8 denied, 9 server error, 10 seed without content
    rate INTEGER,                           -- change rate: shape and days of a Gamma distribution, two 32-bit floats
    rhythm INTEGER,                         -- refresh class, interest of users, signals, state of the refresh policy
    PRIMARY KEY (site, page)
) STRICT, WITHOUT ROWID;

-- Pages with the same text.
CREATE INDEX visits_by_text ON visits (text) WHERE text IS NOT NULL;

-- Stored pages that are not searchable, to count them by reason.
CREATE INDEX unsearchable ON visits (status, trouble) WHERE position IS NOT NULL AND indexable = 0;

-- Pages with a problem by time, of all sites and of one. The rows of all sites are far apart, so the first index
-- contains the reason and is covering.
CREATE INDEX troubles ON visits (trouble, visited_at, site, page, reason) WHERE trouble IS NOT NULL;
CREATE INDEX troubles_of_site ON visits (site, trouble, visited_at, page) WHERE trouble IS NOT NULL;

-- All page versions.
CREATE TABLE versions (
    site INTEGER NOT NULL,
    page INTEGER NOT NULL,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    links INTEGER NOT NULL DEFAULT 0,       -- followed links, and how many of them led to new pages
    new_links INTEGER NOT NULL DEFAULT 0,
    inconclusive INTEGER NOT NULL DEFAULT 0, -- 1: the page is what it was before, because the error may be temporary
    PRIMARY KEY (site, page, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE robots (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    state INTEGER NOT NULL,                 -- 0 missing, 1 unreachable, 2 known
    body BLOB,                              -- the last file that was fetched, and its time
    known_at INTEGER,
    reason TEXT                             -- reason of a failed fetch
) STRICT, WITHOUT ROWID;

-- Home pages of mirrors and of their originals.
CREATE TABLE aliases (
    home TEXT PRIMARY KEY,
    of TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Number of links rejected by each crawl rule.
CREATE TABLE filtered (
    rule TEXT PRIMARY KEY,
    links INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Usage of the limits of sitemaps and feeds, by site, within one hour.
CREATE TABLE lists (
    site INTEGER PRIMARY KEY,
    hour INTEGER NOT NULL,                  -- hours since 1970
    lists INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

-- What visits say about the dates in sitemaps and feeds and the notices of a site, with forgetting.
CREATE TABLE signals (
    site INTEGER PRIMARY KEY,
    confirmed REAL NOT NULL,                -- visits that found a change that was announced
    false_alarms REAL NOT NULL,             -- visits that found no change although one was announced
    missed REAL NOT NULL,                   -- visits that found a change that was not announced
    days REAL NOT NULL                      -- days between these visits and the previous ones
) STRICT;

-- Pages submitted by visitors.
CREATE TABLE submissions (
    url TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    accepted INTEGER                        -- the operator's decision, 1 or 0; NULL: pending
) STRICT, WITHOUT ROWID;

-- Views for interactive use.

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
            WHEN 4 THEN 'deleted' WHEN 6 THEN 'quarantined' ELSE 'removed' END AS state,
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
            WHEN 4 THEN 'deleted' WHEN 6 THEN 'quarantined' ELSE 'removed' END AS state,
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
