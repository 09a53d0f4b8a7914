"""Runs lit until a moment, and says what came of each test by what lit prints.

lit's own --max-time (LLVM 19) is the time that each test may take after the one before it, not
that of all; and its report has, when it is stopped, no test that ended after the first one that
had not. So lit is ended from here, and its lines are read.
"""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ENDED = re.compile(r"([A-Z]+): (.+ :: .+) \(\d+ of \d+\)$")
OUTPUT = re.compile(r"\*{20} TEST '(.+)' FAILED \*{20}$")
GOOD = ["PASS", "XFAIL", "FLAKYPASS"]
# Not run here: what the machine lacks, and what a filter leaves out.
APART = ["UNSUPPORTED", "EXCLUDED"]
# For lit's own end: with a time limit for each test it may wait for ever after the last one.
GRACE = 60


@dataclass
class Outcome:
    """What came of a run of lit."""

    # By the name of a test ("suite :: path"): lit's word for it.
    codes: dict[str, str] = field(default_factory=dict)
    # What a failed test printed.
    outputs: dict[str, str] = field(default_factory=dict)
    # Of those that the run was to have: not ended when the time was over.
    left: list[str] = field(default_factory=list)
    # lit's exit code; 0 where it was ended from here.
    code: int = 0
    # The moment came before lit's own end. Where it did not, what is left is lit's fault.
    is_late: bool = False


def processes_of(session: int) -> list[int]:
    """Those of a session, that of setsid(2), which a test that makes process groups does not
    leave."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # "pid (name, which may have blanks) state parent group session"
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(stat.parent.name))
    return found


def end(process: "subprocess.Popen[str]") -> None:
    """Ends a process that leads a session, and all that it has started."""
    for pid in processes_of(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@dataclass
class Selection:
    """What --filter and --filter-out of lit are to have; None: all, and nothing."""

    only: str | None = None
    without: str | None = None

    def words(self) -> list[str]:
        return ([f"--filter={self.only}"] if self.only is not None else []) + (
            [f"--filter-out={self.without}"] if self.without is not None else [])

    def has(self, name: str) -> bool:
        """As lit takes them: anywhere in the name, whatever the case."""
        return ((self.only is None or bool(re.search(self.only, name, re.I)))
                and (self.without is None or not re.search(self.without, name, re.I)))


def discovered(words: Sequence[object], environment: Mapping[str, str]) -> list[str]:
    """The names of all tests that a command of lit knows, whatever its filters."""
    shown = subprocess.run([*map(str, words), "--show-tests"], env=dict(environment), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [line.strip() for line in shown.stdout.splitlines() if " :: " in line]


def run(words: Sequence[object], environment: Mapping[str, str],
        selection: Selection | None = None, ends: float | None = None) -> Outcome:
    """Runs a command of lit with -v and --no-progress-bar, and prints what it prints.

    ends: the moment, of time.monotonic(), at which what still runs is ended.
    """
    selection = selection or Selection()
    outcome = Outcome(left=[name for name in discovered(words, environment)
                            if selection.has(name)])
    process = subprocess.Popen([*map(str, words), *selection.words()], env=dict(environment),
                               text=True, errors="replace", stdout=subprocess.PIPE,
                               start_new_session=True)
    timers = []

    def end_in(seconds: float) -> None:
        timers.append(threading.Timer(max(1, seconds), end, [process]))
        timers[-1].start()

    if ends is not None:
        end_in(ends - time.monotonic())
    assert process.stdout  # a pipe
    try:
        read(process.stdout, outcome, lambda: end_in(GRACE))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        end(process)
        code = process.wait()
        outcome.code = 0 if code == -signal.SIGKILL else code
        outcome.is_late = ends is not None and time.monotonic() >= ends
    except BaseException:
        end(process)
        raise
    finally:
        for timer in timers:
            timer.cancel()
    outcome.left = [name for name in outcome.left if name not in outcome.codes]
    return outcome


def read(lines: IO[str], outcome: Outcome, at_last: Callable[[], None]) -> None:
    """Reads what lit prints to its end. at_last: what to do when the last test has ended."""
    failing = None
    awaited = set(outcome.left)
    for line in lines:
        print(line, end="", flush=True)
        line = line.rstrip("\n")
        if ended := ENDED.match(line):
            outcome.codes[ended[2]] = ended[1]
            if ended[2] in awaited:
                awaited.remove(ended[2])
                if not awaited:
                    at_last()
        elif begins := OUTPUT.match(line):
            failing = begins[1]
            outcome.outputs[failing] = ""
        elif line == "*" * 20:
            failing = None
        elif failing is not None:
            outcome.outputs[failing] += line + "\n"
