#!/usr/bin/env python3
"""Run an engine for a long time under changing pages, queries, builds and kills, and print what it consumes.

Usage: bench/soak.py PHAROS TESTWEB [MINUTES], with the binaries of `cargo build --release`.

`pharos-testweb` serves pages that change, appear and disappear. `pharos up` refreshes them all the time, while clients
search; a new history is built every two minutes. Every ten minutes the engine is killed with SIGKILL in the middle of
its work, the library is compacted, `pharos doctor` must find it healthy, and the engine is started again. The table has
one row for every ten minutes: memory, open files and threads of the engine, size of the data directory, and queries.
A soak is good if no column keeps growing, no request fails, and the doctor finds nothing.
"""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

SLOT = 600
BUILD_EVERY = 120
SAMPLE_EVERY = 5
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SETTINGS = """
[crawl]
refresh = "30s"
refresh_home = "10s"
refresh_hub = "10s"
refresh_at_most_every = "5s"
gone_after = "10s"
[library]
file_size = "4MB"
keep_versions = 2
[engine]
disk_floor = "0B"
"""


class Web:
    """The changing web."""

    def __init__(self, testweb):
        command = [testweb, "--hosts", "8", "--pages", "600", "--rate", "24", "--births", "200", "--deaths", "0.5",
                   "--speed", "600", "--days", "60"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.seeds, self.resolve = [], []
        for line in self.process.stdout:
            kind, _, value = line.strip().partition(" ")
            if kind == "seed":
                self.seeds.append(value)
            elif kind == "resolve":
                self.resolve += ["--resolve", value]
            if len(self.resolve) == 2 * len(self.seeds) and self.resolve:
                break


class Engine:
    """`pharos up` on a data directory."""

    def __init__(self, pharos, data, web):
        self.pharos, self.data, self.web = pharos, data, web
        self.process, self.address = None, None

    def start(self):
        command = [self.pharos, "--data", self.data, "up", "--listen", "127.0.0.1:0", "--allow-private",
                   "--politeness", "own-site", *self.web.resolve, *self.web.seeds]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            if "serving http://" in line:
                self.address = "http://" + line.split("http://")[1].split("/")[0]
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def run(self, *arguments):
        """Run another command on the data directory and return its output."""
        done = subprocess.run([self.pharos, "--data", self.data, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"pharos {' '.join(arguments)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
        return done.stdout

    def sample(self):
        """Return resident memory in MB, open files and threads."""
        root = pathlib.Path("/proc") / str(self.process.pid)
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines() if ":" in line)
        return int(status["VmRSS"].split()[0]) / 1024, len(os.listdir(root / "fd")), int(status["Threads"])


def size_of(path):
    """Return the size of a directory in MB."""
    files = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(os.path.getsize(file) for file in files if os.path.exists(file)) / 1e6


class Clients:
    """Clients that search all the time."""

    def __init__(self, engine):
        self.engine, self.times, self.failures, self.is_paused, self.is_over = engine, [], 0, True, False
        threading.Thread(target=self.search, daemon=True).start()

    def search(self):
        words = "the of and lighthouse harbour 灯塔 大学 news page river".split()
        number = 0
        while not self.is_over:
            if self.is_paused:
                time.sleep(0.05)
                continue
            number += 1
            query = urllib.parse.quote(f"{words[number % len(words)]} {words[number // 7 % len(words)]}")
            begun = time.monotonic()
            try:
                with OPENER.open(f"{self.engine.address}/api/v1/search?q={query}&page={1 + number % 3}", timeout=20) as reply:
                    json.load(reply)
                self.times.append(time.monotonic() - begun)
            except OSError:
                # A request in flight at a kill fails by itself.
                self.failures += 0 if self.is_paused else 1
            time.sleep(0.02)

    def take(self):
        times, self.times = sorted(self.times), []
        return times


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    minutes = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    web = Web(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        os.makedirs(data)
        pathlib.Path(data, "pharos.toml").write_text(SETTINGS)
        engine = Engine(sys.argv[1], data, web)
        engine.start()
        clients = Clients(engine)
        print(f"{'minutes':>8} {'memory MB':>10} {'peak':>6} {'files':>6} {'threads':>8} {'disk MB':>8} {'pages':>6} "
              f"{'builds':>7} {'queries':>8} {'p50':>8} {'p99':>8} {'failed':>7}", flush=True)
        begun = time.monotonic()
        while time.monotonic() - begun < 60 * minutes:
            clients.is_paused = False
            samples, builds, slot = [], 0, time.monotonic()
            while time.monotonic() - slot < min(SLOT, 60 * minutes):
                time.sleep(SAMPLE_EVERY)
                if engine.process.poll() is not None:
                    sys.exit(f"the engine ended by itself with {engine.process.returncode}")
                samples.append(engine.sample())
                if time.monotonic() - slot > (builds + 1) * BUILD_EVERY:
                    engine.run("index", "build")
                    builds += 1
            pages = json.loads(engine.run("--json", "stats"))["catalog"]["indexable"]
            clients.is_paused = True
            engine.process.send_signal(signal.SIGKILL)
            engine.process.wait()
            engine.run("compact")
            engine.run("doctor")
            times = clients.take()
            memory, files, threads = zip(*samples)
            print(f"{(time.monotonic() - begun) / 60:8.0f} {statistics.median(memory):10.0f} {max(memory):6.0f} "
                  f"{statistics.median(files):6.0f} {statistics.median(threads):8.0f} {size_of(data):8.1f} {pages:6} {builds:7} "
                  f"{len(times):8} {1000 * times[len(times) // 2]:6.1f}ms {1000 * times[len(times) * 99 // 100]:6.1f}ms "
                  f"{clients.failures:7}", flush=True)
            engine.start()
        clients.is_over = True
        engine.process.send_signal(signal.SIGTERM)
        if engine.process.wait() != 0:
            sys.exit("the engine did not end well")
        engine.run("doctor")
    web.process.send_signal(signal.SIGINT)
    web.process.wait()


if __name__ == "__main__":
    main()
