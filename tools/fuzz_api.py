"""The API does what its OpenAPI document says, and nothing breaks it: schemathesis (PyPI) against the demo.

usage: fuzz_api.py PHAROS_BINARY

Requests are made from the document, right ones and wrong ones; every answer must be one that the document tells of. The same
requests come each time; PHAROS_LONG makes more of them.
"""

import json
import os
import subprocess
import sys
import tempfile

from demo import Demo

DOCUMENT = "/api/v1/openapi.json"

# Requests of each kind for each operation, and the longest that all of them may take, in seconds.
EXAMPLES, TIME_LIMIT = 25, 300
LONG_EXAMPLES, LONG_TIME_LIMIT = 1000, 3600


def command(origin, examples):
    """How schemathesis is called. The origin is given, so that no server that the document names is asked instead."""
    return [
        sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"{origin}{DOCUMENT}", "--origin", origin,
        "--checks", "all", "--mode", "all", "--max-examples", str(examples), "--continue-on-failure",
        "--seed", "1", "--generation-database", "none",
        "--workers", "1", "--request-timeout", "20", "--max-redirects", "0",
        # Whether a machine is slow says nothing about the API.
        "--suppress-health-check", "too_slow",
    ]


def problem_with(status, text):
    """What is wrong with the document itself; schemathesis would call an empty one flawless."""
    if status != 200:
        return f"{DOCUMENT} gives {status}, not the OpenAPI document"
    try:
        document = json.loads(text)
        version, paths = document["openapi"], document["paths"]
    except (ValueError, KeyError, TypeError) as error:
        return f"{DOCUMENT} is no OpenAPI document: {error!r}"
    if not version.startswith("3.1"):
        return f"{DOCUMENT} is OpenAPI {version}, not 3.1"
    return None if paths else f"{DOCUMENT} tells of no operation"


def main(binary):
    is_long = "PHAROS_LONG" in os.environ
    examples, limit = (LONG_EXAMPLES, LONG_TIME_LIMIT) if is_long else (EXAMPLES, TIME_LIMIT)
    with Demo(binary) as demo, tempfile.TemporaryDirectory(prefix="api-") as folder:
        if wrong := problem_with(*demo.get(DOCUMENT)):
            sys.exit(f"api: {wrong}")
        try:
            # In a folder of its own, because it leaves notes where it runs.
            code = subprocess.run(command(demo.url(""), examples), cwd=folder, timeout=limit, check=False,
                                  env=os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}).returncode
        except subprocess.TimeoutExpired:
            sys.exit(f"api: not finished after {limit} s")
        if not demo.is_running():
            sys.exit(f"api: the demo broke down:\n{demo.words()}")
    return code


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1]))
