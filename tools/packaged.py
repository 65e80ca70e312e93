#!/usr/bin/env python3
"""Do the files under packaging/ say what the binary knows: variables, commands, flags, the port, the paths?"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Variables of ours that are no settings.
OTHERS = {"PHAROS_DATA", "PHAROS_CONFIG", "PHAROS_LOG", "PHAROS_SECTION_KEY", "PHAROS_BINARY", "PHAROS_MAINTAINER",
          "PHAROS_DESK_SETUP_CODE"}

VARIABLE = re.compile(r"\bPHAROS_[A-Z0-9_]+\b")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# `pharos …` at the beginning of a line of a manual, perhaps by another user or in a container.
COMMAND_LINE = re.compile(r"^(?:sudo (?:-u pharos )?|docker compose .* exec pharos |docker run .* pharos )?"
                          r"(pharos (?!completions|man\b).*)$", re.MULTILINE)


class Binary:
    """What a binary says about itself."""

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
        """Every setting with its default."""
        return {key: entry["default"] for key, entry in json.loads(self.run("config", "--json")).items()}

    def help(self, command):
        """What `pharos COMMAND --help` prints; nothing where there is no such command."""
        if command not in self.helps:
            self.helps[command] = self.run(command, "--help")
        return self.helps[command]


def unknown_variables(text, settings):
    """Variables that the binary would refuse."""
    known = OTHERS | {"PHAROS_" + key.replace(".", "_").upper() for key in settings}
    return [f"there is no variable {name}" for name in sorted(set(VARIABLE.findall(text)) - known)]


def bad_command(words, help_of):
    """What the binary would not understand of `pharos …`, split into words."""
    before, command = [], ""
    for word in words[1:]:
        # Two flags take a value and may stand before the command.
        if not word.startswith("-") and (not before or before[-1] not in ("--data", "--config")):
            command = word
            break
        before.append(word)
    text = help_of(command) if command else help_of("--help")
    if not text:
        return [f"there is no command `pharos {command}`"]
    known = set(FLAG.findall(text)) | {"--help", "--version"}
    flags = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
    return [f"`pharos {command}` has no flag {flag}" for flag in flags if flag not in known]


def unit_problems(text, help_of, packaged):
    """A unit starts the packaged binary in a way that it understands, and reads files that are packaged."""
    wrong = []
    for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE):
        words = shlex.split(line)
        if words[0] not in packaged:
            wrong.append(f"{words[0]} is not in the package")
        wrong += bad_command(words, help_of)
    for path in sorted(set(re.findall(r"/etc/pharos/[\w.]+", text)) - packaged):
        wrong.append(f"{path} is not in the package")
    return wrong


def image_problems(text, port, help_of):
    """An image offers the port that it listens on, and its commands are ours."""
    wrong = []
    exposed = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)
    listens = re.findall(r"PHAROS_WEB_LISTEN=\S*:(\d+)", text)
    if exposed != [port] or listens != [port]:
        wrong.append(f"the image exposes {exposed} and listens on {listens}, not {port}")
    for line in re.findall(r"^(?:CMD|HEALTHCHECK .* CMD) (\[.*\])$", text, re.MULTILINE):
        words = json.loads(line)
        wrong += bad_command(words if words[0] == "pharos" else ["pharos", *words], help_of)
    return wrong


def compose_problems(compose, port):
    """The proxy reaches the engine, which nobody else does."""
    engine, proxy = compose["services"]["pharos"], compose["services"]["caddy"]
    wrong = []
    if engine.get("expose") != [port] or proxy["environment"]["UPSTREAM"] != f"pharos:{port}":
        wrong.append(f"the proxy does not reach the engine at {port}")
    if "ports" in engine:
        wrong.append("the engine is reached past its proxy, and would believe any address it is told")
    if engine["environment"].get("PHAROS_WEB_BEHIND_PROXY") != "true":
        wrong.append("the engine does not know that it is behind a proxy")
    return wrong


def proxy_problems(text, port):
    """A proxy passes requests on to the port of the engine, and keeps the figures to itself."""
    wrong = []
    upstream = re.findall(r"127\.0\.0\.1:(\d+)", text)
    if set(upstream) != {port}:
        wrong.append(f"it passes requests on to {upstream}, not to {port}")
    for needed in ("X-Forwarded-For", "X-Forwarded-Proto", "/metrics", "/admin"):
        if needed not in text:
            wrong.append(f"it says nothing of {needed}")
    if "$proxy_add_x_forwarded_for" in text:
        wrong.append("it hands on what a visitor claims about its address")
    return wrong


def command_lines(text):
    """The commands of ours that a manual tells people to type."""
    return [shlex.split(line, comments=True) for line in COMMAND_LINE.findall(text)]


def packaged_paths(script):
    """Where the script that makes the package puts files."""
    return {"/" + path for path in re.findall(r"^put \d+ \S+ (\S+)$", script, re.MULTILINE)}


def main():
    import yaml  # from PyPI: the tests beside this file do without
    if len(sys.argv) != 2:
        raise SystemExit("usage: tools/packaged.py BINARY")
    binary = Binary(sys.argv[1])
    settings = binary.settings()
    port = settings["web.listen"].strip('"').rpartition(":")[2]
    folder = ROOT / "packaging"
    files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
             for path in [*sorted(folder.rglob("*")), ROOT / "docs/run.md"] if path.is_file()}
    wrong = [f"{name}: {problem}" for name, text in files.items() for problem in unknown_variables(text, settings)]

    def told(name, problems):
        wrong.extend(f"{name}: {problem}" for problem in problems)

    packaged = packaged_paths(files["packaging/deb/build"])
    name = "packaging/systemd/pharos.service"
    told(name, unit_problems(files[name], binary.help, packaged))
    name = "packaging/docker/Dockerfile"
    told(name, image_problems(files[name], port, binary.help))
    name = "packaging/docker/compose.yaml"
    told(name, compose_problems(yaml.safe_load(files[name]), port))
    for name in ("packaging/proxy/nginx.conf", "packaging/proxy/Caddyfile"):
        told(name, proxy_problems(files[name], port))
    commands = [(name, words) for name, text in files.items() if name.endswith(".md") for words in command_lines(text)]
    for name, words in commands:
        told(name, bad_command(words, binary.help))
    for sentence in wrong:
        print(f"packaging: {sentence}", file=sys.stderr)
    if not wrong:
        print(f"packaging: {len(files)} files and {len(commands)} command lines agree with the binary")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
