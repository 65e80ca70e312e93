#!/usr/bin/env python3
"""Measure what hostile pages cost the others: 400 good pages on eight hosts, without and with hostile pages among them.

Usage: bench/hostile_page.py PHAROS [ROUNDS], with the binary of `cargo build --release`.

`pharos up` crawls pages from a server on loopback. A client lists the searchable pages every 50 ms, another one sends
queries all the time. The table shows the time from the response of a page until the page is searchable, and the time
of queries. All variants run in turn in each round.
"""

import http.server
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

HOSTS = 8
PAGES = 400
WORDS = "lamp harbour keeper storm signal tower lens fog ship rock coast island light night sailor chart".split()
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def formatting():
    """Return a megabyte of formatting elements that are never closed."""
    return "text/html", "".join(f"<a><b c{number}><div>" for number in range(48_000)).encode()


def pdf():
    """Return a PDF that draws a path of twenty million lines."""
    content = zlib.compress(b"0 0 m " + b"1 1 l " * (20 << 20) + b"f", 9)
    return "application/pdf", (
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        + f"4 0 obj<</Length {len(content)}/Filter/FlateDecode>>\nstream\n".encode() + content
        + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


def good(host, number):
    """Return a page of some kilobytes whose words differ from those of the other pages."""
    choice = random.Random(host * PAGES + number)
    text = "".join(f"<p>{' '.join(choice.choices(WORDS, k=20))} w{choice.randrange(10**6)} number{number}x{line}.</p>"
                   for line in range(20))
    links = "".join(f"<a href='/{number + step}'>next</a>" for step in (1, 2, 3) if number + step < PAGES // HOSTS)
    return f"<title>Page {number} of {host}</title><h1>Page {number} of {host}</h1>{text}{links}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for all hosts. The first host also has the hostile pages."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        host = int(re.match(r"h(\d+)", self.headers["Host"])[1])
        kind, body, status = "text/html", b"", 200
        if self.path == "/robots.txt":
            kind, body = "text/plain", b"User-agent: *\nAllow: /\n"
        elif self.path in server.hostile:
            kind, body = server.hostile[self.path]
        elif self.path[1:].isdigit() or self.path == "/":
            number = int(self.path[1:] or 0)
            links = "".join(f"<a href='{path}'>more</a>" for path in server.hostile) if host == 0 and number == 5 else ""
            body = (good(host, number) + links + f"<p>host{host}</p>").encode()
        else:
            status = 404
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        server.served.setdefault(f"http://{self.headers['Host']}{self.path}", time.monotonic())

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def get(url):
    try:
        with OPENER.open(url, timeout=60) as response:
            return json.load(response)
    except (urllib.error.URLError, OSError, ValueError):
        return {}


def query_loop(base, times, stop):
    """Send different queries, ten per second, and note how long they take."""
    number = 0
    while not stop.is_set():
        number += 1
        words = f"{WORDS[number % len(WORDS)]} {WORDS[(number * 5) % len(WORDS)]} number{number % 50}x{number % 20}"
        began = time.monotonic()
        get(f"{base}/api/v1/search?q={urllib.parse.quote(words)}")
        times.append(time.monotonic() - began)
        time.sleep(0.1)


def searchable(base):
    """Return the URLs of the searchable good pages, by a word that all pages of a host contain."""
    queries = [f"{base}/api/v1/search?q=host{host}&size=50&all=true" for host in range(HOSTS)]
    return {hit["url"] for query in queries for hit in get(query).get("hits", [])}


def run(binary, hostile):
    """Crawl once; return the delays of the good pages and the times of the queries, in seconds."""
    server = Server(("127.0.0.1", 0), Handler)
    server.hostile, server.served = hostile, {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    with tempfile.TemporaryDirectory() as data:
        seeds = [f"http://h{host}.test:{port}/" for host in range(HOSTS)]
        resolve = [f"--resolve=h{host}.test:{port}:127.0.0.1" for host in range(HOSTS)]
        command = [binary, "--data", data, "up", "--allow-private", "--politeness", "own-site",
                   "--listen", "127.0.0.1:0", *resolve, *seeds]
        engine = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        base = next(match[0] for line in engine.stderr if (match := re.search(r"http://127\.0\.0\.1:\d+", line)))
        threading.Thread(target=lambda: [None for _ in engine.stderr], daemon=True).start()
        seen, times, stop = {}, [], threading.Event()
        queries = threading.Thread(target=query_loop, args=(base, times, stop))
        queries.start()
        began = time.monotonic()
        while len(seen) < PAGES and time.monotonic() - began < 120:
            now = time.monotonic()
            for url in searchable(base) - seen.keys():
                seen[url] = now
            time.sleep(0.05)
        stop.set()
        queries.join()
        engine.terminate()
        engine.wait()
    server.shutdown()
    delays = [max(0.0, at - server.served[url]) for url, at in seen.items() if url in server.served]
    return delays, times


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    variants = {"good pages only": {}, "one page of formatting elements": {"/hostile": formatting()},
                "one PDF bomb": {"/bomb.pdf": pdf()}}
    results = {name: ([], [], []) for name in variants}
    for _ in range(rounds):
        for name, hostile in variants.items():
            delays, times = run(binary, hostile)
            results[name][0].extend(delays)
            results[name][1].extend(times)
            results[name][2].append(len(delays))
    print(f"{'':34}{'searchable':>11}{'median':>9}{'p99':>9}{'max':>9}{'query p50':>11}{'p99':>9}{'max':>9}")
    for name, (delays, times, counts) in results.items():
        def at(values, part):
            return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else float("nan")
        figures = [f"{at(delays, part):8.2f}s" for part in (0.5, 0.99, 1)]
        figures += [f"{1000 * at(times, 0.5):9.1f}ms"] + [f"{1000 * at(times, part):7.1f}ms" for part in (0.99, 1)]
        print(f"{name:34}{statistics.mean(counts):11.0f}{''.join(figures)}")


if __name__ == "__main__":
    main()
