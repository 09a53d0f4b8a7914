#!/usr/bin/env python3
"""Looks at Inputs/confirm/report while it runs, which report_ends.py builds: with `torch-confirm
live` from outside and with `report --live`, on a terminal and without one.

    confirm_live.py outside|terminal|inside WORK --torch-confirm FILE --cache-dir FOLDER
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
from report_ends import HEAD, Finished, Test, line, main  # noqa: E402

# Nothing here takes that long; a machine may be slow.
PATIENCE = 120


def wait_for(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Program:
    """Trains, with a mistake, says "ready", and then goes on until it is ended."""

    def __init__(self, test: Test, subcommand: str = "report") -> None:
        words = [word if word != "report" else subcommand
                 for word in test.command(test.train, "grow", "endless", "300")]
        if subcommand == "run":
            (test.scratch / "none.sarif").write_text(
                '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "torch-tidy"}},'
                ' "results": []}]}')
            words[2:2] = ["--findings", "none.sarif"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=test.scratch)
        assert self.process.stdout
        while self.process.stdout.readline() not in ["ready\n", ""]:
            pass
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.child = next(child for child in map(int, children.read_text().split())
                          if os.readlink(f"/proc/{child}/exe") == str(test.train))

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> str:
        if self.process.returncode is None:
            os.kill(self.child, signal.SIGTERM)
            return self.process.communicate(timeout=PATIENCE)[1]
        return ""


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, words: list[str], folder: Path, columns: int, rows: int) -> None:
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, cwd=folder, start_new_session=True,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"},
            preexec_fn=lambda: self.child(slave))
        self.slave, self.text = slave, ""
        os.set_blocking(self.master, False)

    @staticmethod
    def child(slave: int) -> None:
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self) -> str:
        try:
            while part := os.read(self.master, 65536):
                self.text += part.decode("utf-8", "replace")
        except OSError:
            pass
        return self.text

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def screens(self) -> list[list[str]]:
        """Each whole drawing, as lines."""
        drawn = self.read().split("\033[H")[1:]
        return [each.split("\033[J")[0].replace("\033[K", "").split("\r\n")[:-1]
                for each in drawn if "\033[J" in each]

    def sees(self, part: str) -> bool:
        return wait_for(lambda: any(part in "\n".join(each) for each in self.screens()))

    def comes_to_fit(self, columns: int, rows: int) -> bool:
        return wait_for(lambda: fits(self.screens()[-1], columns, rows))

    def end(self) -> int:
        if not wait_for(lambda: self.read() is not None and self.process.poll() is not None):
            self.process.kill()
        return self.process.wait()

    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.slave)


def fits(screen: list[str], columns: int, rows: int) -> bool:
    return len(screen) <= rows and max(map(len, screen)) <= columns


def live(test: Test, *words: object) -> list[str]:
    return [test.confirm[0], "live", *map(str, words)]


def look(test: Test, *words: object) -> Finished:
    return subprocess.run(live(test, *words), capture_output=True, text=True, timeout=PATIENCE,
                          cwd=test.scratch)


def look_until(test: Test, text: str, number: int) -> Finished:
    """The first look that has that text, or the last one."""
    looks = [look(test, "--once", number)]
    while text not in looks[-1].stdout and len(looks) < 100:
        time.sleep(0.3)
        looks.append(look(test, "--once", number))
    return looks[-1]


def outside(test: Test) -> None:
    """From another process, without a terminal."""
    run = look(test, os.getpid())
    test.check("what does not run under it", run.returncode == 2 and re.search(
        "no program of yours runs|does not run under", run.stderr) is not None, run)
    run = look(test, "--interval", "0", "1")
    test.check("no interval", run.returncode == 2 and "--interval" in run.stderr, run)
    with Program(test) as program:
        # It takes some iterations to tell, and where they get slower some more.
        for name, number in [("torch-confirm", program.process.pid),
                             ("the program", program.child)]:
            run = look_until(test, "memory grows by", number)
            test.check(f"--once of {name}", run.returncode == 0, run)
            for part in [rf"LIVE +train, process {program.child}, \d:\d\d",
                         r"MEMORY +[\d.]+ MiB of tensors now, at most [\d.]+ MiB; .* resident",
                         r"GRAPHS +[\d,]+ nodes now", r"STEPS +[\d,]+ iterations, ",
                         rf"WHY +memory grows by (?s:.*) at\s+{line('kept')}",
                         r"\n +[\d.]+ MiB +\d+ %  .*train\.cpp:\d+  \S"]:
                test.check(f"{name}: {part}", re.search(part, run.stdout) is not None, run)
        log = subprocess.Popen(live(test, "--interval", "0.2", program.child), text=True,
                               stdout=subprocess.PIPE)
        assert log.stdout
        lines: list[str] = []
        grows = re.compile(rf"[\d.]+ s: [\d.]+ MiB of tensors, [\d,]+ graph nodes, [\d,]+ "
                           rf"iterations; memory grows by .*{line('kept')}\n")
        while len(lines) < 100 and not (len(lines) > 2 and all(map(grows.fullmatch, lines[-3:]))):
            lines.append(log.stdout.readline())
        test.check("a log", all(map(grows.fullmatch, lines[-3:])), lines[-3:])
        report = program.end()
        log.communicate(timeout=PATIENCE)
        test.check("it ends with the program", log.returncode == 0, log.returncode)
        test.check("the report comes as without", HEAD in report and line("kept") in report,
                   report)
    with Program(test, "run") as program:
        run = look(test, "--once", program.child)
        test.check("of 'run'", run.returncode == 0 and re.search(
            r"WHY +only 'torch-confirm report' records", run.stdout) is not None
            and re.search(r"MEMORY +[\d.]+ MiB", run.stdout) is not None, run)


def terminal(test: Test) -> None:
    """From another one."""
    with Program(test) as program:
        look_until(test, "memory grows by", program.child)
        for name, keys in [("q", "q"), ("Ctrl-C", "\x03")]:
            screen = Terminal(live(test, "--interval", "0.2", program.child), test.scratch, 100,
                              30)
            test.check(f"{name}: drawn", screen.sees("LIVE"), screen.text)
            screen.resize(50, 12)
            test.check(f"{name}: drawn in another size", screen.comes_to_fit(50, 11),
                       screen.screens()[-1])
            test.check(f"{name}: no key is shown", screen.settings()[3] & termios.ECHO == 0)
            first = screen.screens()[0]
            test.check(f"{name}: it fits", fits(first, 100, 29)
                       and any("▁" in each or "█" in each for each in first), first)
            screen.type(keys)
            code = screen.end()
            test.check(f"{name}: ends with 0", code == 0, (code, screen.text))
            test.check(f"{name}: the terminal is as before", screen.settings() == screen.before
                       and screen.text.count("\033[?1049h") == screen.text.count("\033[?1049l"))
            test.check(f"{name}: the program goes on", program.process.poll() is None)
        screen = Terminal(live(test, program.child), test.scratch, 100, 30)
        test.check("drawn", screen.sees(line("kept")), screen.text)
        program.end()
        test.check("it ends with the program", screen.end() == 0, screen.text)
        last = screen.text.rpartition("\033[?1049l")[2]
        test.check("what was seen last stays", "WHY" in last and line("kept") in last, last)


def inside(test: Test) -> None:
    """report --live, which runs the program itself."""
    words = test.command(test.train, "grow", "endless", "300", options=["--live"])
    screen = Terminal(words, test.scratch, 120, 30)
    test.check("what is printed is shown", screen.sees("ready"), screen.text)
    test.check("the view", screen.sees(line("kept")), screen.text)
    screen.type("\x03")
    code = screen.end()
    test.check("Ctrl-C is the program's", code == -signal.SIGINT, (code, screen.text))
    rest = screen.text.rpartition("\033[?1049l")[2]
    test.check("output, then the report", re.search(
        r"ready\r\n(?s:.*)" + HEAD + r"(?s:.*)was ended by signal 2", rest) is not None, rest)
    test.check("the terminal is as before", screen.settings() == screen.before)
    words = test.command(test.train, "grow", "exit", options=["--live", "--json", "live.json"])
    screen = Terminal(words, test.scratch, 120, 30)
    code = screen.end()
    test.check("exit code", code == 3, (code, screen.text))
    test.check("files", line("kept") in (test.scratch / "live.json").read_text())
    # Without a terminal its output is its own, and what is seen is a log.
    run = test.run(test.train, "grow", "exit", options=["--live"])
    test.check("no terminal", run.returncode == 3 and run.stdout.startswith("loss ")
               and HEAD in run.stderr, run)
    run = test.run("./missing", options=["--live"])
    test.check("no program", run.returncode == 2 and "missing" in run.stderr, run)
    run = subprocess.run([*test.confirm, "--live", "--from", "x.json"], capture_output=True,
                         text=True)
    test.check("--from", run.returncode == 2 and "--live" in run.stderr, run)


if __name__ == "__main__":
    main(__doc__, outside=outside, terminal=terminal, inside=inside)
