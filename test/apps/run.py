#!/usr/bin/env python3
"""Builds the example application and its corrected twin, runs them, and asserts
that they learn what they are to learn.

    test/apps/run.py WORK [CMAKE_ARGUMENT...]      e.g. -DTorch_DIR=<folder>
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
APPS = ["example", "example-fixed"]
# Of each program: what its output shows, and what that must be.
RESULTS = {
    "charlm": [("last validation loss", r"validation ([\d.]+)", lambda x: x < 0.5)],
    "vision": [("last accuracy", r"accuracy ([\d.]+)\n", lambda x: x > 0.6),
               ("temperature", r"temperature ([\d.]+)", lambda x: 0.1 < x < 10)],
    "server": [("right answers of 300", r"right (\d+) of 300", lambda x: x > 250)],
}


def execute(*command):
    run = subprocess.run([str(word) for word in command], text=True,
                         capture_output=True, timeout=1200)
    if run.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))} exits with {run.returncode}:\n"
                 f"{run.stdout[-4000:]}{run.stderr[-4000:]}")
    return run.stdout


def build(app, folder, cmake_arguments):
    options = ["-DEXAMPLE_PRECOMPILE=ON", "-DCMAKE_BUILD_TYPE=None"]
    if shutil.which("ninja"):
        options.append("-GNinja")
    if shutil.which("ccache"):
        os.environ["CCACHE_SLOPPINESS"] = (
            "pch_defines,time_macros,include_file_mtime,include_file_ctime")
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    execute("cmake", "-S", HERE / app, "-B", folder, *options, *cmake_arguments)
    execute("cmake", "--build", folder, "-j1")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    work = Path(sys.argv[1])
    # On cores that others use as well, threads that wait for each other take
    # twenty times as long.
    os.environ["OMP_NUM_THREADS"] = "1"
    numbers = {}
    failed = 0
    for app in APPS:
        build(app, work / app, sys.argv[2:])
        for program, results in RESULTS.items():
            output = execute(work / app / program)
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
