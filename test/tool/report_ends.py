#!/usr/bin/env python3
"""Runs Inputs/confirm/report under `torch-confirm report` and alone: however it ends, what it
prints and reads is its own, so is its exit code, and the report comes and names the right line.

    report_ends.py build|ends|memory WORK --torch-confirm FILE --cache-dir FOLDER
        [--cmake FILE --torch FOLDER --cxx FILE]
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "Inputs" / "confirm" / "report"
SOURCE = INPUTS / "train.cpp"
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import cmake_build  # noqa: E402

Finished = subprocess.CompletedProcess[str]
HEAD = "torch-confirm report: "
MIB = 1 << 20


def line(comment: str) -> str:
    """As the report names it."""
    lines = SOURCE.read_text().splitlines()
    number = next(n for n, text in enumerate(lines, 1) if text.endswith("// " + comment))
    return f"train.cpp:{number}"


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.work, self.failed = arguments.work.resolve(), 0
        self.build = self.work / "build"
        self.train = self.build / "train"
        self.scratch = self.work / f"scratch-{arguments.part}"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.confirm = [os.path.abspath(arguments.torch_confirm), "report", "--cache-dir",
                        arguments.cache_dir]

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}", flush=True)

    def command(self, *words: object, options: Sequence[object] = ()) -> list[str]:
        return [str(word) for word in [*self.confirm, *options, "--", *words]]

    def run(self, *words: object, options: Sequence[object] = (), **how: Any) -> Finished:
        return subprocess.run(self.command(*words, options=options), capture_output=True,
                              text=True, timeout=300, **{"cwd": self.scratch, **how})

    def script(self, name: str, text: str) -> Path:
        path = self.scratch / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def check_report(self, name: str, run: Finished, *parts: str) -> None:
        """Its own lines are whole, and it says all of that."""
        report = run.stderr.partition(HEAD)[2]
        for part in parts:
            self.check(f"{name}: {part}", re.search(part, report) is not None, run)


def kept() -> str:
    return rf"WHY +memory grows by [\d.]+ KiB and .* held by the graph .* at {line('kept')}\n"


def ends(test: Test) -> None:
    """Alone, and under it."""
    for words, parts in [
            (["grow"], [kept(), "ended with 0,"]),
            (["level"], ["WHY +no growth", "ended with 0,"]),
            (["serve"], [r"WHY +memory grows by [\d.]+ MiB per second", line("logged")]),
            (["grow", "exit"], [kept(), "ended with 3,"]),
            (["grow", "echo"], [kept(), "ended with 0,"]),
            (["grow", "killed"], [kept(), "was ended by signal 9 "]),
            (["grow", "crash"], [kept(), "was ended by signal 11,"]),
            (["grow", "throw"], [kept(), "was ended by signal 6,"]),
            (["grow", "", "3"], ["WHY +the run is too short to tell"]),
            (["fork"], [kept(), "ended with 0,"]),
            (["nothing"], ["WHY +no memory of tensors was seen"]),
            (["nothing", "crash"], ["was ended by signal 11,", "no memory of tensors"])]:
        name = " ".join(words)
        alone = subprocess.run([test.train, *words], capture_output=True, text=True,
                               input="one\ntwo\n")
        run = test.run(test.train, *words, input="one\ntwo\n")
        test.check(f"{name}: ends with {alone.returncode}",
                   run.returncode == alone.returncode, run)
        test.check(f"{name}: output", run.stdout == alone.stdout, run)
        # LibTorch prints addresses with an exception; that the probe is compiled is said once.
        ours, theirs = ([text for text in errors.splitlines()
                         if not text.startswith(("frame #", "torch-confirm: "))]
                        for errors in (run.stderr.partition(HEAD)[0], alone.stderr))
        test.check(f"{name}: errors", ours == theirs, (ours, theirs))
        test.check_report(name, run, *parts)
    interrupted(test)
    surroundings(test)


def interrupted(test: Test) -> None:
    for name, number, send in [("Ctrl-C", signal.SIGINT, os.killpg),
                               ("kill", signal.SIGTERM, os.kill)]:
        process = subprocess.Popen(
            test.command(test.train, "grow", "wait"), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=test.scratch,
            # A shell ignores it for what runs in its background, as tests may.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        assert process.stdout
        while process.stdout.readline() not in ["ready\n", ""]:
            pass
        send(process.pid, number)
        try:
            output, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
        run = Finished([], process.returncode, output, errors)
        test.check(f"{name}: ends by it", run.returncode == -number, run)
        test.check_report(name, run, f"was ended by signal {number:d},", line("kept"))
    # Long enough for a busy machine to come to what waits: alone that takes two seconds.
    run = test.run(test.train, "grow", "wait", options=["--timeout=30"])
    test.check("--timeout: code", run.returncode == 124 and "ready" in run.stdout, run)
    test.check_report("--timeout", run, r"did not end in time \(--timeout\)", line("kept"))


def surroundings(test: Test) -> None:
    """From another folder, of a script, beside another preloaded library."""
    shutil.copy(test.train, test.scratch / "train")
    run = test.run("./train", "grow", "exit")
    test.check("another folder", run.returncode == 3, run)
    test.check_report("another folder", run, kept())
    script = test.script("train.sh", f"echo first\n{test.train} grow\necho $?\nexit 5\n")
    run = test.run(script, options=["--program", test.train])
    test.check("a script", run.returncode == 5 and re.fullmatch(
        r"first\nloss .*\n0\n", run.stdout) is not None, run)
    test.check_report("a script", run, r"train.sh ended with 5", kept())
    run = test.run(test.train, "grow",
                   env={**os.environ, "LD_PRELOAD": str(test.build / "libgreets.so")})
    test.check("a library of its own", run.returncode == 0
               and run.stdout.startswith("greets\nloss"), run)
    test.check_report("a library of its own", run, kept())
    # Of several processes that one which has done most.
    script = test.script("two.sh", f"{test.train} level '' 10\nexec {test.train} grow\n")
    run = test.run(script, options=["--program", test.train])
    test.check_report("two processes", run, kept())
    test.check("two processes are told", "2 processes ran operations" in run.stderr, run)


def memory(test: Test) -> None:
    """The allocation that failed, and its line."""
    asked = r"asked for 64.0 MiB when \d+ MiB of tensors were alive, [\d.]+ [MG]iB resident\n"
    for words, code, comment, parts in [
            (["grow", "oom"], -6, "fills",
             [asked, "was ended by signal 6, out of memory,", kept(),
              "c10::Error: .*you tried to allocate 67108864 bytes"]),
            (["serve", "oom", "100"], -6, "fills", [asked]),
            (["grow", "caught"], 0, "fills", [asked, "ended with 0, ", kept()]),
            (["grow", "bad_alloc"], -6, "huge",
             ["std::bad_alloc", "was ended by signal 6, out of memory,"])]:
        name, report = " ".join(words), test.scratch / f"{words[1]}.json"
        run = test.run(test.train, *words, options=["--json", report])
        test.check(f"{name}: code", run.returncode == code, run)
        test.check_report(name, run, rf"FAILED +out of memory at {line(comment)} after \d", *parts)
        failure = json.loads(report.read_text()).get("failure", {})
        test.check(f"{name}: --json", failure.get("asked") == (
            64 * MIB if comment == "fills" else None) and failure["count"] == 1
            and line(comment) in failure["text"], failure)
    script = test.script("limited.sh", f"ulimit -v 12000000\nexec {test.train} grow fill\n")
    run = test.run(script, options=["--program", test.train])
    test.check("ulimit -v: code", run.returncode == -6, run)
    test.check_report("ulimit -v", run, f"FAILED +out of memory at {line('fills')} ",
                      "asked for 64.0 MiB when", line("kept"))
    run = test.run(test.train, "grow")
    test.check("none has failed", "FAILED" not in run.stderr and HEAD in run.stderr, run)
    gates(test)


def gates(test: Test) -> None:
    for words, limit, code in [(["grow"], "1KiB", 1), (["grow"], "1GiB", 0), (["level"], "0", 0),
                               (["grow", "exit"], "1KiB", 3), (["serve"], "100 KiB", 1)]:
        run = test.run(test.train, *words, options=["--fail-on-growth", limit])
        test.check(f"--fail-on-growth {limit} of {' '.join(words)}: {code}",
                   run.returncode == code, run)
        test.check_report(f"--fail-on-growth {limit}", run, "WHY")


def main(description: str | None, **parts: Callable[[Test], None]) -> None:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["build", *parts])
    parser.add_argument("work", type=Path)
    parser.add_argument("--torch-confirm")
    parser.add_argument("--cache-dir")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--torch")
    parser.add_argument("--cxx")
    arguments = parser.parse_args()
    if arguments.part == "build":
        cmake_build.build(INPUTS, arguments.work.resolve() / "build",
                          f"-DTorch_DIR={arguments.torch}",
                          f"-DCMAKE_CXX_COMPILER={arguments.cxx}", cmake=arguments.cmake)
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    test = Test(arguments)
    parts[arguments.part](test)
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main(__doc__, ends=ends, memory=memory)
