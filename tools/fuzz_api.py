"""Check the API of the demo against its OpenAPI document with schemathesis (PyPI).

usage: fuzz_api.py PHAROS_BINARY

Valid and invalid requests are generated from the document; every response must match it. The requests are the same in
each run; PHAROS_LONG generates more of them.
"""

import json
import os
import subprocess
import sys
import tempfile

from demo import Demo

DOCUMENT = "/api/v1/openapi.json"

# Number of requests of each kind per operation, and the time limit for all of them in seconds.
EXAMPLES, TIME_LIMIT = 25, 300
LONG_EXAMPLES, LONG_TIME_LIMIT = 1000, 3600


def command(origin, examples):
    """Return the schemathesis command. The origin overrides the servers named in the document."""
    return [
        sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"{origin}{DOCUMENT}", "--origin", origin,
        "--checks", "all", "--mode", "all", "--max-examples", str(examples), "--continue-on-failure",
        "--seed", "1", "--generation-database", "none",
        "--workers", "1", "--request-timeout", "20", "--max-redirects", "0",
        # A slow machine is not an error of the API.
        "--suppress-health-check", "too_slow",
    ]


def problem_with(status, text):
    """Return an error of the document itself, or None; schemathesis would accept an empty one."""
    if status != 200:
        return f"{DOCUMENT} returns {status} instead of the OpenAPI document"
    try:
        document = json.loads(text)
        version, paths = document["openapi"], document["paths"]
    except (ValueError, KeyError, TypeError) as error:
        return f"{DOCUMENT} is not an OpenAPI document: {error!r}"
    if not version.startswith("3.1"):
        return f"{DOCUMENT} is OpenAPI {version}, not 3.1"
    return None if paths else f"{DOCUMENT} describes no operation"


def main(binary):
    is_long = "PHAROS_LONG" in os.environ
    examples, limit = (LONG_EXAMPLES, LONG_TIME_LIMIT) if is_long else (EXAMPLES, TIME_LIMIT)
    with Demo(binary) as demo, tempfile.TemporaryDirectory(prefix="api-") as folder:
        if error := problem_with(*demo.get(DOCUMENT)):
            sys.exit(f"api: {error}")
        try:
            # In a folder of its own, because it writes files to the working directory.
            code = subprocess.run(command(demo.url(""), examples), cwd=folder, timeout=limit, check=False,
                                  env=os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}).returncode
        except subprocess.TimeoutExpired:
            sys.exit(f"api: not finished after {limit} s")
        if not demo.is_running():
            sys.exit(f"api: the demo crashed:\n{demo.messages()}")
    return code


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1]))
