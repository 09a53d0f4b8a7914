#!/usr/bin/env python3
"""Cuts tool/torch-confirm/on-device at random moments, as machines do: what it ends with is what
it would have come to in one go. What has no time is told and comes later.

    on_device_cut.py WORK --output FOLDER --build FOLDER -- COMMAND...

WORK: for the results; --output: of a run of COMMAND that was not cut, --build: where its scenarios
were built.
"""

import argparse
import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SEED, CUTS = 20, 6


def results(output: Path) -> Any:
    """Without times, and the day."""
    whole = json.loads((output / "scenarios-cpu.json").read_text())
    del whole["date"]
    for check in whole["checks"]:
        rows = check["devices"]["cpu"]["measures"]
        rows[:] = [row for row in rows if row["measure"] != "milliseconds"]
    return whole


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.failed = 0
        self.build, self.command = arguments.build, arguments.command
        self.whole = results(arguments.output)
        self.names = [check["check"] for check in self.whole["checks"]]
        self.output = arguments.work.resolve()
        shutil.rmtree(self.output, ignore_errors=True)

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}", flush=True)

    def words(self, *more: object) -> list[str]:
        return [str(word) for word in [*self.command, "--output", self.output, *more]]

    def run(self, *more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.words(*more), capture_output=True, text=True)

    def there(self) -> set[str]:
        return {path.stem for path in (self.output / "cpu").glob("torch-*.json")}

    def cut(self, kept: set[str], seconds: float | None) -> None:
        """After so long, or when the first result is there; adds to what is kept."""
        process = subprocess.Popen(self.words(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        begin = time.monotonic()
        while process.poll() is None and (
                not self.there() if seconds is None else time.monotonic() < begin + seconds):
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"cut after {time.monotonic() - begin:.1f} s: {len(self.there())} checks are done")
        self.check("nothing is lost", kept <= self.there(), (kept, self.there()))
        kept |= self.there()
        for path in (self.output / "cpu").glob("*.json"):
            self.check(f"{path.name} is whole", bool(json.loads(path.read_text())))

    def cut_and_go_on(self) -> None:
        moments, kept = random.Random(SEED), set(self.names)
        for number in range(CUTS):
            if kept == set(self.names):
                # From the beginning; what is compiled is cut, too.
                kept.clear()
                shutil.rmtree(self.output, ignore_errors=True)
                for program in self.build.glob("torch-*-*"):
                    program.unlink()
            # Later and later: in each part of a run.
            self.cut(kept, moments.uniform(0.2, 2) * (number + 1))
        if not kept or kept == set(self.names):
            # None of them was between two checks.
            kept.clear()
            shutil.rmtree(self.output, ignore_errors=True)
            self.cut(kept, None)
        run = self.run()
        self.check("it ends", run.returncode == 0, run)
        self.check("it goes on", f"{len(kept)} of {len(self.names)} checks were measured "
                   "before" in run.stdout, run)
        self.check("the same results", results(self.output) == self.whole, results(self.output))
        again = self.run()
        self.check("all is done", again.returncode == 0 and f"{len(self.names)} of "
                   f"{len(self.names)} checks were measured before" in again.stdout
                   and results(self.output) == self.whole, again)

    def repeated(self) -> None:
        """In one start of the program, which loads LibTorch once."""
        program = self.build / "torch-missing-zero-grad-fixed"
        once, thrice = (subprocess.run([program, "--repeat", str(times)], capture_output=True,
                                      text=True).stdout.splitlines()
                        for times in [1, 3])
        values = [line for line in once if not line.startswith("milliseconds")]
        self.check("each repetition comes to the same", values != [] and 3 * values == [
            line for line in thrice if not line.startswith("milliseconds")], (once, thrice))
        self.check("each is timed", len(thrice) == 3 * len(once) > 3 * len(values), thrice)
        run = subprocess.run([program, "--repeat", "often"], capture_output=True, text=True)
        self.check("--repeat often", run.returncode == 2 and "'often' is no whole number from 1; "
                   "usage: " in run.stderr, run)

    def with_a_budget(self) -> None:
        long, times = self.names[1], self.output / "cpu" / "times.json"
        for name in self.names:
            (self.output / "cpu" / f"{name}.json").unlink()
        times.write_text(json.dumps({**dict.fromkeys(self.names, 1), long: 99999}))
        run = self.run("--budget", 1000)
        self.check("what does not fit is not begun", run.returncode == 3
                   and f"no time: {long} (about 99999 s)\n" in run.stdout
                   and f"{len(self.names) - 1} of {len(self.names) - 1} scenarios hold; there was "
                   "no time for 1 more" in run.stdout, run)
        self.check("what fits is done", self.there() == set(self.names) - {long}, self.there())
        told = json.loads((self.output / "scenarios-cpu.json").read_text())
        self.check("the results say so", told["no-time-for"] == [f"{long} (about 99999 s)"], told)
        times.write_text(json.dumps(dict.fromkeys(self.names, 1)))
        run = self.run("--budget", 1000)
        self.check("the next time goes on", run.returncode == 0
                   and results(self.output) == self.whole, run)
        for path in (self.output / "cpu").glob("torch-*.json"):
            path.unlink()
        times.unlink()
        run = self.run("--budget", 1)
        self.check("no time at all", run.returncode == 3 and "no time: " in run.stdout
                   and not self.there(), run)
        for text in ["0", "-5", "soon"]:
            run = self.run(f"--budget={text}")
            self.check(f"--budget={text}", run.returncode == 2
                       and f"invalid seconds value: '{text}'" in run.stderr, run)

    def anew(self) -> None:
        self.run()
        run = self.run("--size", "2")
        self.check("another size begins anew", run.returncode == 0 and "begins anew: --size was 1 "
                   "and is 2; what there was is in " in run.stdout, run)
        earlier = {path.name for path in (self.output / "cpu" / "earlier-1").iterdir()}
        self.check("what there was is there", earlier
                   == {"run.json", *(name + ".json" for name in self.names)}, earlier)
        with open(self.output / "cpu" / "lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            run = self.run()
        self.check("one at a time", run.returncode == 1
                   and "another torch-confirm is at work in" in run.stdout, run)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("command", nargs="+")
    test = Test(parser.parse_args())
    test.cut_and_go_on()
    test.repeated()
    test.with_a_budget()
    test.anew()
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
