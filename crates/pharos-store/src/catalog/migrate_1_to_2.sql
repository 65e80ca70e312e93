-- From format 1, whose tables are now called old_*, to format 2, whose tables are there and empty.

INSERT INTO meta SELECT key, value FROM old_meta;
INSERT INTO robots SELECT url, at, state, body FROM old_robots;
INSERT INTO sites (id, name, seed) SELECT site, name, seed FROM old_sites;

INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, due, anchor)
    SELECT s.site, p.page, substr(p.url, instr(p.url, '://') + 3 + length(s.name)), p.url LIKE 'https:%', p.state,
        p.depth, p.hops, p.found_at, iif(p.state = 0, NULL, p.due), nullif(p.anchor, '')
    FROM old_pages p JOIN sites s ON s.id = p.site
    ORDER BY s.site, p.page;

INSERT INTO visits
    SELECT s.site, p.page, p.visited_at, p.visits, p.attempts, p.reason,
        iif(p.position IS NULL, NULL, p.visited_at), iif(p.position IS NULL, NULL, p.status), p.position, p.digest,
        iif(p.position IS NULL, NULL, p.indexable)
    FROM old_pages p JOIN sites s ON s.id = p.site
    WHERE p.visited_at IS NOT NULL
    ORDER BY s.site, p.page;

-- Only the last answer of each page was known.
INSERT INTO versions
    SELECT site, page, position, settled_at, status, digest FROM visits WHERE position IS NOT NULL;

UPDATE sites SET
    visited_at = (SELECT max(visited_at) FROM visits v WHERE v.site = sites.site),
    (pages, stored, indexable, failed, refused) = (
        SELECT count(*), total(state = 1), total(indexable), total(state = 2), total(state = 3)
        FROM pages p LEFT JOIN visits v USING (site, page) WHERE p.site = sites.site);

DROP TABLE old_pages;
DROP TABLE old_sites;
DROP TABLE old_robots;
DROP TABLE old_meta;
