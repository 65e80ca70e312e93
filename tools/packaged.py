#!/usr/bin/env python3
"""Check variables, commands, flags, ports and paths in packaging/ and docs/run.md against the binary."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Variables that are not settings.
OTHERS = {"PHAROS_DATA", "PHAROS_CONFIG", "PHAROS_LOG", "PHAROS_SECTION_KEY", "PHAROS_BINARY", "PHAROS_MAINTAINER",
          "PHAROS_DESK_SETUP_CODE"}

VARIABLE = re.compile(r"\bPHAROS_[A-Z0-9_]+\b")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# `pharos …` at the start of a line of a manual, optionally as another user or in a container.
COMMAND_LINE = re.compile(r"^(?:sudo (?:-u pharos )?|docker compose .* exec pharos |docker run .* pharos )?"
                          r"(pharos (?!completions|man\b).*)$", re.MULTILINE)


class Binary:
    """The binary under test."""

    def __init__(self, path):
        self.path = path
        self.helps = {}

    def run(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PHAROS_")}
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False, env=environment)
        except OSError as error:
            raise SystemExit(f"cannot run {self.path}: {error}; build it with `cargo build`") from error
        return done.stdout if done.returncode == 0 else ""

    def settings(self):
        """Return every setting with its default."""
        return {key: entry["default"] for key, entry in json.loads(self.run("config", "--json")).items()}

    def help(self, command):
        """Return the output of `pharos COMMAND --help`, empty if there is no such command."""
        if command not in self.helps:
            self.helps[command] = self.run(command, "--help")
        return self.helps[command]


def unknown_variables(text, settings):
    """Return an error for each variable that the binary does not know."""
    known = OTHERS | {"PHAROS_" + key.replace(".", "_").upper() for key in settings}
    return [f"unknown variable {name}" for name in sorted(set(VARIABLE.findall(text)) - known)]


def bad_command(words, help_of):
    """Return an error for each unknown command or flag of `pharos …`, split into words."""
    before, command = [], ""
    for word in words[1:]:
        # Two flags take a value and may precede the command.
        if not word.startswith("-") and (not before or before[-1] not in ("--data", "--config")):
            command = word
            break
        before.append(word)
    text = help_of(command) if command else help_of("--help")
    if not text:
        return [f"unknown command `pharos {command}`"]
    known = set(FLAG.findall(text)) | {"--help", "--version"}
    flags = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
    return [f"`pharos {command}` has no flag {flag}" for flag in flags if flag not in known]


def unit_problems(text, help_of, packaged):
    """Check that a unit starts the packaged binary with valid arguments and reads packaged files."""
    errors = []
    for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE):
        words = shlex.split(line)
        if words[0] not in packaged:
            errors.append(f"{words[0]} is not in the package")
        errors += bad_command(words, help_of)
    for path in sorted(set(re.findall(r"/etc/pharos/[\w.]+", text)) - packaged):
        errors.append(f"{path} is not in the package")
    return errors


def systemd_problems(text):
    """Return what `systemd-analyze verify` reports about a unit, nothing where systemd is not installed."""
    analyse = shutil.which("systemd-analyze")
    if not analyse:
        return []
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "pharos-check.service"
        # The program is not installed here; any other one takes its place.
        unit.write_text(text.replace("/usr/bin/pharos", os.path.realpath(sys.executable)), encoding="utf-8")
        done = subprocess.run([analyse, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    # Complaints about units of the machine do not count.
    return [line for line in done.stderr.splitlines() if unit.name in line]


def image_problems(text, port, help_of):
    """Check the port and the commands of an image."""
    errors = []
    exposed = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)
    listens = re.findall(r"PHAROS_WEB_LISTEN=\S*:(\d+)", text)
    if exposed != [port] or listens != [port]:
        errors.append(f"the image exposes {exposed} and listens on {listens}, not {port}")
    for line in re.findall(r"^(?:CMD|HEALTHCHECK .* CMD) (\[.*\])$", text, re.MULTILINE):
        words = json.loads(line)
        errors += bad_command(words if words[0] == "pharos" else ["pharos", *words], help_of)
    return errors


def compose_problems(compose, port):
    """Check that the engine is reachable through its proxy only."""
    engine, proxy = compose["services"]["pharos"], compose["services"]["caddy"]
    errors = []
    if engine.get("expose") != [port] or proxy["environment"]["UPSTREAM"] != f"pharos:{port}":
        errors.append(f"the proxy does not forward to the engine at port {port}")
    if "ports" in engine:
        errors.append("the engine is reachable without its proxy, and would trust any X-Forwarded-For")
    if not engine["environment"].get("PHAROS_WEB_BEHIND_PROXY"):
        errors.append("PHAROS_WEB_BEHIND_PROXY is not set")
    return errors


def proxy_problems(text, port):
    """Check that a proxy forwards to the port of the engine and hides the metrics."""
    errors = []
    upstream = re.findall(r"127\.0\.0\.1:(\d+)", text)
    if set(upstream) != {port}:
        errors.append(f"forwards to port {upstream} instead of {port}")
    for needed in ("X-Forwarded-For", "X-Forwarded-Proto", "/metrics", "/admin"):
        if needed not in text:
            errors.append(f"does not configure {needed}")
    if "$proxy_add_x_forwarded_for" in text:
        errors.append("forwards the X-Forwarded-For of the client")
    return errors


def command_lines(text):
    """Return the pharos command lines of a manual."""
    return [shlex.split(line, comments=True) for line in COMMAND_LINE.findall(text)]


def packaged_paths(script):
    """Return the paths that the package build script installs."""
    return {"/" + path for path in re.findall(r"^put \d+ \S+ (\S+)$", script, re.MULTILINE)}


def main():
    import yaml  # from PyPI: not needed by the unit tests
    if len(sys.argv) != 2:
        raise SystemExit("usage: tools/packaged.py BINARY")
    binary = Binary(sys.argv[1])
    settings = binary.settings()
    port = settings["web.listen"].strip('"').rpartition(":")[2]
    folder = ROOT / "packaging"
    files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
             for path in [*sorted(folder.rglob("*")), ROOT / "docs/run.md"] if path.is_file()}
    errors = [f"{name}: {problem}" for name, text in files.items() for problem in unknown_variables(text, settings)]

    def report(name, problems):
        errors.extend(f"{name}: {problem}" for problem in problems)

    packaged = packaged_paths(files["packaging/deb/build"])
    name = "packaging/systemd/pharos.service"
    report(name, unit_problems(files[name], binary.help, packaged))
    report(name, systemd_problems(files[name]))
    name = "packaging/docker/Dockerfile"
    report(name, image_problems(files[name], port, binary.help))
    name = "packaging/docker/compose.yaml"
    report(name, compose_problems(yaml.safe_load(files[name]), port))
    for name in ("packaging/proxy/nginx.conf", "packaging/proxy/Caddyfile"):
        report(name, proxy_problems(files[name], port))
    commands = [(name, words) for name, text in files.items() if name.endswith(".md") for words in command_lines(text)]
    for name, words in commands:
        report(name, bad_command(words, binary.help))
    for error in errors:
        print(f"packaging: {error}", file=sys.stderr)
    if not errors:
        print(f"packaging: {len(files)} files and {len(commands)} command lines agree with the binary")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
