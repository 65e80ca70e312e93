"""The steps of `./check`: what they run, what they need, and which of them run at the same time.

Steps of a lane run one after the other; the lanes run side by side:
  light    short checks, and the installation of tools while cargo compiles
  cargo    compiling and testing
  program  checks of the compiled program, while the tests run
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = str(TARGET / "debug" / "pharos")
LOGS = ROOT / "target" / "check"
PYTHON = {"PYTHONPATH": str(ROOT / "target" / "python")}

# Lines of the output of a failed step that are printed.
SHOWN_LINES = 300

TEST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; \d+ failed; (\d+) ignored", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Step:
    """One check: a command that fails or passes."""

    name: str
    lane: str
    description: str
    command: tuple
    needs: tuple = ()
    # Parts of tools/setup.
    tools: tuple = ()
    environment: dict = field(default_factory=dict)
    # Runs only with --long or when named.
    is_long: bool = False


def cargo(arguments):
    return ("cargo", *arguments.split())


def python(script, *arguments):
    return ("python3", f"tools/{script}", *arguments)


# In the order of starting. `build` selects the same features as `tests` and `browser`, which avoids a second build.
STEPS = [
    Step("format", "light", "cargo fmt", cargo("fmt --all --check")),
    Step("tools", "light", "unit tests of tools/*.py", ("python3", "-m", "unittest", "discover", "tools")),
    Step("arrows", "light", "allowed dependencies between crates", python("arrows.py")),
    Step("replacements", "light", "files are replaced through pharos-files only", python("replacements.py")),
    Step("dependencies", "light", "licences, bans, duplicate and yanked versions (deny.toml)", python("dependencies.py")),
    Step("language", "light", "comments, documents and messages are plain technical English", python("language.py")),
    Step("golden", "light", "every worked example of the literature has a test", python("golden.py")),
    Step("setup", "light", "tools that later steps need, under target/; the browser as a system package", ("tools/setup",)),
    Step("clippy", "cargo", "lints; warnings are errors",
         cargo("clippy --workspace --all-targets --locked -- -D warnings")),
    Step("build", "cargo", "the program and its tests", cargo("test --workspace --locked --no-run")),
    Step("tests", "cargo", "unit, property and end-to-end tests", cargo("test --workspace --locked"), needs=("build",)),
    Step("fuzz", "cargo", "the fuzz targets compile",
         cargo("check --manifest-path fuzz/Cargo.toml --bins --all-features --locked"), is_long=True),
    Step("bench", "cargo", "the benchmarks compile",
         cargo("check --manifest-path bench/Cargo.toml --workspace --all-targets --locked"), is_long=True),
    Step("search", "program", "judged queries on documentation packages of Debian, beside BM25",
         ("python3", "bench/documentation.py", PROGRAM, "--margin", "0.05"), needs=("build",), is_long=True),
    Step("docs", "program", "API documentation; warnings are errors", cargo("doc --workspace --no-deps --locked"),
         environment={"RUSTDOCFLAGS": "-D warnings"}),
    Step("pages", "program", "every kind of page is valid HTML (html-validate)",
         python("valid_pages.py", PROGRAM, "target/node/node_modules"), needs=("build",), tools=("node",)),
    Step("api", "program", "the API matches its OpenAPI document (schemathesis)", python("fuzz_api.py", PROGRAM),
         needs=("build",), tools=("python",), environment=PYTHON),
    Step("warcio", "program", "WARC files are exchanged with warcio", python("warcio_check.py", PROGRAM),
         needs=("build",), tools=("python",), environment=PYTHON),
    Step("packaging", "program", "packages, units and examples match the program", python("packaged.py", PROGRAM),
         needs=("build",), tools=("python",), environment=PYTHON),
    Step("browser", "program", "the web pages in Chromium", cargo("test --workspace --locked --test e2e -- --ignored"),
         needs=("build",), tools=("browser", "node"),
         # chromedriver listens on the loopback interface.
         environment={"NO_PROXY": "127.0.0.1," + os.environ.get("NO_PROXY", os.environ.get("no_proxy", ""))}),
]


def select(names, is_long):
    """Return the steps with these names, by default all, with the steps they need, in the order of STEPS."""
    by_name = {step.name: step for step in STEPS}
    pending = list(names) or [step.name for step in STEPS if is_long or not step.is_long]
    selected = set()
    while pending:
        step = by_name[pending.pop()]
        selected.add(step.name)
        pending += [*step.needs, *(["setup"] if step.tools else [])]
    return [step for step in STEPS if step.name in selected]


def startable(waiting, running, passed):
    """Return the next step of each free lane whose needs are met; waiting steps of a lane keep their order."""
    steps, lanes = [], {step.lane for step in running}
    for step in waiting:
        if step.lane in lanes:
            continue
        lanes.add(step.lane)
        # A lane waits for needs of its next step, and for a running or waiting build, whose lock cargo would wait for.
        needs = {*step.needs, *(["setup"] if step.tools else [])}
        if step.lane == "program":
            needs |= {other.name for other in [*waiting, *running] if other.name in ("clippy", "build")}
        if needs <= passed:
            steps.append(step)
    return steps


def summary(output):
    """Return one line that tells the result of a step: the number of tests, or the last line of the output."""
    if results := TEST_RESULT.findall(output):
        passed, ignored = (sum(int(result[part]) for result in results) for part in (0, 1))
        return f"{passed} tests passed, {ignored} ignored"
    lines = output.strip().splitlines()
    return lines[-1].strip()[:120] if lines else ""


class Run:
    """A run of several steps."""

    def __init__(self, steps, environment, is_live):
        self.waiting = list(steps)
        self.running = {}
        self.seconds = {}
        self.environment = environment
        # Print the output of a single step while it runs.
        self.is_live = is_live
        self.parts = sorted({part for step in steps for part in step.tools})

    def start(self, step):
        command = [*step.command, *self.parts] if step.name == "setup" else step.command
        print(f"== {step.name}: {' '.join(map(str, command))}", flush=True)
        log = None if self.is_live else (LOGS / f"{step.name}.log").open("wb")
        # A group of its own, so that a step is stopped with all its processes.
        process = subprocess.Popen(command, cwd=ROOT, env=self.environment | step.environment, stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, process_group=0)
        self.waiting.remove(step)
        self.running[step] = (process, time.monotonic())

    def finish(self, step, code):
        _, start = self.running.pop(step)
        self.seconds[step.name] = time.monotonic() - start
        output = "" if self.is_live else (LOGS / f"{step.name}.log").read_text(encoding="utf-8", errors="replace")
        if code == 0:
            result = summary(output)
            print(f"== {step.name}: passed in {self.seconds[step.name]:.0f} s{result and ': ' + result}", flush=True)
            return
        print("\n".join(output.splitlines()[-SHOWN_LINES:]))
        where = "" if self.is_live else f"; the whole output is in target/check/{step.name}.log"
        sys.exit(f"check: step `{step.name}` failed after {self.seconds[step.name]:.0f} s{where}")

    def all(self):
        """Run the steps; exit at the first failure."""
        try:
            while self.waiting or self.running:
                for step in startable(self.waiting, self.running, set(self.seconds)):
                    self.start(step)
                for step, (process, _) in list(self.running.items()):
                    if (code := process.poll()) is not None:
                        self.finish(step, code)
                time.sleep(0.1)
        finally:
            for process, _ in self.running.values():
                os.killpg(process.pid, signal.SIGTERM)


def environment(is_long, folder):
    """Return the variables of all steps; temporary files of the tests and of the browser stay in `folder`."""
    result = os.environ | {"TMPDIR": folder, "XDG_CONFIG_HOME": f"{folder}/config", "XDG_CACHE_HOME": f"{folder}/cache",
                           "PYTHONDONTWRITEBYTECODE": "1"}
    result.setdefault("RUST_BACKTRACE", "1")
    if not sys.stdout.isatty():
        result.setdefault("CARGO_TERM_COLOR", "never")
    if os.environ.get("CI"):
        result.setdefault("CARGO_INCREMENTAL", "0")
    if is_long:
        result |= {"PHAROS_LONG": "1", "PROPTEST_CASES": "10000"}
    return result


def listing():
    return "\n".join(f"  {step.name:<13} {step.description}{' (--long)' if step.is_long else ''}" for step in STEPS)


def arguments():
    parser = argparse.ArgumentParser(
        prog="./check", usage="./check [--long] [STEP ...]", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs all steps, or the named ones with what they need, and stops at the first failure.",
        epilog=f"steps:\n{listing()}\n\nThe output of each step is in target/check/STEP.log.")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=argparse.SUPPRESS)
    parser.add_argument("--long", action="store_true",
                        help="run kill, fuzz and load loops with full counts (sets PHAROS_LONG=1 and "
                             "PROPTEST_CASES=10000), and compile fuzz targets and benchmarks")
    parser.add_argument("--list", action="store_true", help="list the steps")
    given = parser.parse_args()
    if unknown := [name for name in given.steps if name not in {step.name for step in STEPS}]:
        parser.error(f"unknown step `{unknown[0]}`; ./check --list prints the steps")
    return given


def main():
    given = arguments()
    if given.list:
        print(listing())
        return
    steps = select(given.steps, given.long)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("check: terminated"))
    LOGS.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=LOGS, ignore_cleanup_errors=True) as folder:
        run = Run(steps, environment(given.long, folder), is_live=len(steps) == 1)
        try:
            run.all()
        except KeyboardInterrupt:
            sys.exit("check: interrupted")
    print(f"\n{'step':<13} {'seconds':>8}")
    for step in steps:
        print(f"{step.name:<13} {run.seconds[step.name]:>8.0f}")
    print(f"{'all':<13} {time.monotonic() - start:>8.0f}")
    print(f"check: {'all ' if not given.steps else ''}{len(steps)} steps passed")


if __name__ == "__main__":
    main()
