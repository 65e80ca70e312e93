"""Reads the output of cargo for the checks in this folder."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output(*arguments):
    """Return the output of a cargo command; exit with cargo's error message if it fails."""
    command = ["cargo", *arguments, "--locked"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("cargo is not installed or not in PATH: install Rust from https://rustup.rs")
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed:\n{done.stderr.strip()}\n"
                 "if a Cargo.toml changed, run `cargo check` once and commit Cargo.lock")
    return done.stdout


def load():
    """Return the output of `cargo metadata`."""
    return json.loads(output("metadata", "--format-version", "1"))


def members(metadata):
    """Return the packages of the workspace."""
    ids = set(metadata["workspace_members"])
    return [package for package in metadata["packages"] if package["id"] in ids]
