#!/usr/bin/env python3
"""Runs Inputs/confirm/ends.cpp under torch-confirm and alone, and compares.

    confirm_ends.py WORK --torch-confirm FILE --build FOLDER --cache-dir FOLDER
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "Inputs" / "confirm" / "ends.cpp"
# A pid that a shell prints, and addresses in what() of an exception.
VOLATILE = ("terminate called", "what():", "Exception raised", "frame #", "Aborted")


def line_of(comment: str) -> int:
    lines = SOURCE.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith("// " + comment))


def findings() -> str:
    """As clang-tidy prints them."""
    return "".join(
        f"{SOURCE}:{line_of(comment)}:5: warning: planted [{check}]\n"
        for comment, check in [("kept", "torch-retained-graph"),
                               ("never", "torch-allocation-in-loop")])


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.work, self.failed = arguments.work, 0
        self.ends = arguments.build / "ends"
        self.findings = self.work / "findings.txt"
        self.findings.write_text(findings())
        self.confirm = [arguments.torch_confirm, "run", "--cache-dir",
                        arguments.cache_dir]

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}")

    def watched(self, *words: object, options: Sequence[object] = (), text: str | None = None,
                findings: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [*self.confirm, "--findings", findings or self.findings, *options, "--",
                   *words]
        return subprocess.run([str(w) for w in command], capture_output=True, text=True,
                              input=text, timeout=300)

    def check_verdicts(self, name: str, report: str) -> None:
        self.check(f"{name}: verdicts", "40 iterations" in report
                   and "1 confirmed, 0 refuted, 1 not reached" in report, report)

    def ends_alike(self) -> None:
        for end in ["", "echo", "abort", "segv", "_exit", "throw", "name", "observe",
                    "observe-thread"]:
            text = "one\ntwo\n"
            report = self.work / f"report-{end}"
            alone = subprocess.run([self.ends, end], capture_output=True, text=True,
                                   input=text)
            run = self.watched(self.ends, end, options=["--output", report], text=text)
            self.check(f"'{end}': code {alone.returncode}",
                       run.returncode == alone.returncode, run)
            self.check(f"'{end}': output", run.stdout == alone.stdout, run.stdout)
            ours = [line for line in run.stderr.splitlines()
                    if not line.startswith(("torch-confirm:", *VOLATILE))]
            theirs = [line for line in alone.stderr.splitlines()
                      if not line.startswith(VOLATILE)]
            self.check(f"'{end}': errors", ours == theirs, run.stderr)
            self.check_verdicts(f"'{end}'", report.read_text())

    def interrupted(self, name: str, number: int, to_group: bool) -> None:
        """Ctrl-C reaches the whole group; kill reaches torch-confirm only."""
        process = subprocess.Popen(
            [str(w) for w in [*self.confirm, "--findings", self.findings, "--", self.ends,
                              "wait"]],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
            # A shell ignores it for what runs in its background, as tests may.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        assert process.stdout  # a pipe
        while process.stdout.readline() not in ["ready\n", ""]:
            pass
        time.sleep(0.2)
        (os.killpg if to_group else os.kill)(process.pid, number)
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
        self.check(f"{name}: code", process.returncode == -number, process.returncode)
        self.check_verdicts(name, errors)

    def gates(self) -> None:
        for options, code in [(["--fail-on", "confirmed"], 1),
                              (["--fail-on", "unconfirmed"], 1), ([], 0)]:
            run = self.watched(self.ends, options=options)
            self.check(f"{options}: code {code}", run.returncode == code, run)
        run = self.watched(self.ends, "echo", options=["--fail-on", "confirmed"], text="")
        self.check("the program's own code goes first", run.returncode == 3, run)

    def recorded(self) -> None:
        """What was recorded gives the same verdicts again."""
        kept, verdicts, again = (self.work / name for name in
                                 ["kept.json", "verdicts.json", "again.json"])
        run = self.watched(self.ends, options=["--recording", kept, "--json", verdicts])
        self.check("--recording", run.returncode == 0, run)
        judge = [self.confirm[0], "judge", "--recording", kept, "--findings",
                 self.findings, "--json", again]
        run = subprocess.run([str(w) for w in judge], capture_output=True, text=True)
        self.check("judge", run.returncode == 0 and
                   json.loads(verdicts.read_text()) == json.loads(again.read_text()), run)

    def by_hand(self) -> None:
        """The commands that 'probe' prints work."""
        probe = [self.confirm[0], "probe", "--cache-dir", self.confirm[-1], self.ends]
        run = subprocess.run([str(w) for w in probe], capture_output=True, text=True)
        library = run.stdout.splitlines()[0] if run.stdout else ""
        self.check("probe", Path(library).is_file(), run)
        trace = self.work / "trace"
        trace.unlink(missing_ok=True)
        subprocess.run([self.ends], env={**os.environ, "LD_PRELOAD": library,
                                         "TORCH_CONFIRM_TRACE": str(trace)},
                       capture_output=True, check=True)
        judge = [self.confirm[0], "judge", "--trace", trace, "--findings", self.findings]
        run = subprocess.run([str(w) for w in judge], capture_output=True, text=True)
        self.check_verdicts("judge --trace", run.stderr)

    def refused(self) -> None:
        """Bad input is told before the program runs."""
        bare = self.work / "bare"
        shutil.copy(self.ends, bare)
        subprocess.run(["strip", "-g", bare], check=True)
        other = self.work / "other.txt"
        other.write_text("/elsewhere/model/net.cpp:3:5: warning: x "
                         "[torch-retained-graph]\n")
        old = self.work / "libtorch-2.6"
        version = old / "include/torch/csrc/api/include/torch/version.h"
        version.parent.mkdir(parents=True, exist_ok=True)
        version.write_text("#define TORCH_VERSION_MAJOR 2\n"
                           "#define TORCH_VERSION_MINOR 6\n"
                           "#define TORCH_VERSION_PATCH 0\n")
        sarif = self.work / "broken.sarif"
        sarif.write_text('{"version": "2.1.0", "runs": [')
        for words, options, message in [
                ([bare], {}, "has no line numbers"),
                ([self.ends], {"findings": other}, "these findings are about other sources"),
                ([self.ends], {"options": ["--libtorch", old]},
                 "is LibTorch 2.6.0, and"),
                ([self.ends], {"options": ["--libtorch", self.work]}, "is no LibTorch"),
                ([self.ends], {"findings": sarif}, "is damaged"),
                ([self.ends], {"options": ["--compiler", "/no/such/c++", "--cache-dir",
                                           self.work / "empty"]}, "/no/such/c++")]:
            run = self.watched(*words, **options)
            self.check(f"refused: {message}", run.returncode == 2
                       and message in run.stderr and "sum" not in run.stdout, run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--torch-confirm", required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--cache-dir", required=True)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    os.environ["OMP_NUM_THREADS"] = "1"
    test = Test(arguments)
    test.ends_alike()
    test.interrupted("Ctrl-C", signal.SIGINT, to_group=True)
    test.interrupted("kill", signal.SIGTERM, to_group=False)
    test.gates()
    test.recorded()
    test.by_hand()
    test.refused()
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
