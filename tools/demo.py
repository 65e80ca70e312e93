"""Runs `pharos demo` for the checks in this folder."""

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

# Timeout in seconds. A busy machine may need that long; it is reached only if something is broken.
TIMEOUT = 120

# The demo is ready when both languages have more than one page of results.
QUERIES = ("lighthouse", "灯塔")
MIN_RESULTS = 11

ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/")

# Bypasses the proxies of the environment, and keeps the session cookie after a login.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())

# Code for creating the first operator of the desk.
SETUP_CODE = "a code of the checks"


class Demo:
    """A running demo: `with Demo(binary) as demo:` sets `demo.address`, and stops the demo on exit."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="demo-")
        self.output = Path(self.folder.name) / "output"
        # Settings of the calling environment must not affect the demo.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PHAROS_")}
        try:
            with self.output.open("wb") as output:
                self.process = subprocess.Popen(
                    [self.binary, "demo", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=output, env=environment
                    | {"TMPDIR": self.folder.name, "PHAROS_DESK_SETUP_CODE": SETUP_CODE})
        except OSError as error:
            self.folder.cleanup()
            raise SystemExit(f"cannot start {self.binary}: {error}; build it with `cargo build`") from error
        try:
            self.address = self.wait_for("an address", lambda: address_in(self.messages()))
            self.wait_for("pages to search", lambda: all(self.total(query) >= MIN_RESULTS for query in QUERIES))
        except BaseException:
            self.__exit__()
            raise
        return self

    def log_in(self):
        """Create the first operator of the desk and stay logged in."""
        form = {"code": SETUP_CODE, "name": "checker", "password": "lamp in the tower", "again": "lamp in the tower"}
        url = f"http://{self.address}/admin/setup"
        with OPENER.open(url, urllib.parse.urlencode(form).encode(), timeout=TIMEOUT) as response:
            if response.status != 200 or not response.url.endswith("/admin"):
                raise SystemExit(f"cannot log in to the desk: {response.status} at {response.url}")

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

    def messages(self):
        """Return the messages printed so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def url(self, path):
        return f"http://{self.address}{path}"

    def get(self, path, **headers):
        """Return status and text, also of error responses."""
        request = urllib.request.Request(self.url(urllib.parse.quote(path, safe="/?&=%+:")), headers=headers)
        try:
            with OPENER.open(request, timeout=30) as response:
                return response.status, response.read().decode("utf-8", errors="replace")
        except urllib.error.HTTPError as response:
            return response.code, response.read().decode("utf-8", errors="replace")

    def total(self, query):
        status, text = self.get(f"/api/v1/search?q={query}")
        return json.loads(text)["total"] if status == 200 else 0

    def wait_for(self, what, poll):
        deadline = time.monotonic() + TIMEOUT
        while True:
            if not self.is_running():
                raise SystemExit(f"the demo exited before it had {what}:\n{self.messages()}")
            if found := poll():
                return found
            if time.monotonic() > deadline:
                raise SystemExit(f"the demo has no {what} after {TIMEOUT} s:\n{self.messages()}")
            time.sleep(0.2)


def address_in(messages):
    """Return the address that the demo prints."""
    found = ADDRESS.search(messages)
    return found and found[1]
