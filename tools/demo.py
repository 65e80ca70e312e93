"""The demo of a binary, running on this machine, for the checks beside this file."""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

# A busy machine may need that long; nobody waits for it unless something is broken.
PATIENCE = 120

# Both languages have more results than one page holds when the demo is searchable.
QUERIES = ("lighthouse", "灯塔")
ENOUGH = 11

ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/")

# What listens on this machine is reached without the proxies of the environment. Whoever logged in stays so.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())

# By which the first operator of the desk comes.
SETUP_CODE = "a code of the checks"


class Demo:
    """`with Demo(binary) as demo:` has `demo.address`; at the end it is stopped, however that comes."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="demo-")
        self.said = Path(self.folder.name) / "said"
        # Settings of whoever runs the check are not those of the demo.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PHAROS_")}
        try:
            with self.said.open("wb") as said:
                self.process = subprocess.Popen(
                    [self.binary, "demo", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=said, env=environment
                    | {"TMPDIR": self.folder.name, "PHAROS_DESK_SETUP_CODE": SETUP_CODE})
        except OSError as error:
            self.folder.cleanup()
            raise SystemExit(f"cannot start {self.binary}: {error}; build it with `cargo build`") from error
        try:
            self.address = self.wait_for("an address", lambda: address_in(self.words()))
            self.wait_for("pages to search", lambda: all(self.total(query) >= ENOUGH for query in QUERIES))
        except BaseException:
            self.__exit__()
            raise
        return self

    def log_in(self):
        """Names the first operator of the desk, who is logged in from then on."""
        form = {"code": SETUP_CODE, "name": "checker", "password": "lamp in the tower", "again": "lamp in the tower"}
        url = f"http://{self.address}/admin/setup"
        with OPENER.open(url, urllib.parse.urlencode(form).encode(), timeout=PATIENCE) as answer:
            if answer.status != 200 or not answer.url.endswith("/admin"):
                raise SystemExit(f"cannot log in to the desk: {answer.status} at {answer.url}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def is_running(self):
        return self.process.poll() is None

    def words(self):
        """What it said so far."""
        return self.said.read_text(encoding="utf-8", errors="replace")

    def url(self, path):
        return f"http://{self.address}{path}"

    def get(self, path, **headers):
        """Status and text; an error is an answer as well."""
        request = urllib.request.Request(self.url(urllib.parse.quote(path, safe="/?&=%+:")), headers=headers)
        try:
            with OPENER.open(request, timeout=30) as answer:
                return answer.status, answer.read().decode("utf-8", errors="replace")
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read().decode("utf-8", errors="replace")

    def total(self, query):
        status, text = self.get(f"/api/v1/search?q={query}")
        return json.loads(text)["total"] if status == 200 else 0

    def wait_for(self, what, look):
        deadline = time.monotonic() + PATIENCE
        while True:
            if not self.is_running():
                raise SystemExit(f"the demo ended before it had {what}:\n{self.words()}")
            if found := look():
                return found
            if time.monotonic() > deadline:
                raise SystemExit(f"the demo has no {what} after {PATIENCE} s:\n{self.words()}")
            time.sleep(0.2)


def address_in(words):
    """The address that the demo says it can be searched at."""
    found = ADDRESS.search(words)
    return found and found[1]
