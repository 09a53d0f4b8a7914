#!/usr/bin/env python3
"""Builds the example application and its corrected twin, runs them, and asserts
that they learn what they are to learn.

    test/apps/run.py WORK [CMAKE_ARGUMENT...]      e.g. -DTorch_DIR=<folder>
"""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.dont_write_bytecode = True
import cmake_build  # noqa: E402

APPS = ["example", "example-fixed"]
# Of each program: what its output shows, and what that must be.
RESULTS = {
    "charlm": [("last validation loss", r"validation ([\d.]+)", lambda x: x < 0.5)],
    "vision": [("last accuracy", r"accuracy ([\d.]+)\n", lambda x: x > 0.6),
               ("temperature", r"temperature ([\d.]+)", lambda x: 0.1 < x < 10)],
    "server": [("right answers of 300", r"right (\d+) of 300", lambda x: x > 250)],
}


def build(work: Path, *options: str, cmake: str = "cmake") -> None:
    """Each program is <work>/<app>/<program>."""
    for app in APPS:
        # With -g, so that torch-confirm's tests can use the same ones.
        cmake_build.build(HERE / app, work / app, "-DEXAMPLE_PRECOMPILE=ON",
                          "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-g", *options,
                          cmake=cmake)


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    work = Path(sys.argv[1])
    # On cores that others use as well, threads that wait for each other take
    # twenty times as long.
    os.environ["OMP_NUM_THREADS"] = "1"
    numbers = {}
    failed = 0
    build(work, *sys.argv[2:])
    for app in APPS:
        for program, results in RESULTS.items():
            output = cmake_build.execute(work / app / program)
            for name, pattern, holds in results:
                found = re.findall(pattern, output)
                number = float(found[-1]) if found else float("nan")
                numbers[app, name] = number
                ok = holds(number)
                failed += not ok
                print(f"{app}/{program}: {name} {number:g} {'ok' if ok else 'FAILED'}")
    # Without zero_grad() the calibration swings around the optimum.
    wrong, fixed = (numbers[app, "temperature"] for app in APPS)
    if abs(wrong - fixed) < 0.05:
        failed += 1
        print(f"FAILED: the missing zero_grad() changes nothing: {wrong}, {fixed}")
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
