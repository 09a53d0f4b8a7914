#!/usr/bin/env python3
"""Builds the programs of Inputs/confirm into WORK.

    confirm_build.py WORK --cmake CMAKE --torch FOLDER [--apps APP...]
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

INPUTS = Path(__file__).resolve().parent / "Inputs" / "confirm"


def execute(*words):
    run = subprocess.run([str(word) for word in words], text=True, capture_output=True)
    if run.returncode != 0:
        sys.exit(f"error: {words[0]} exits with {run.returncode}:\n"
                 f"{run.stdout[-4000:]}{run.stderr[-4000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--apps", nargs="*", default=[])
    arguments = parser.parse_args()
    options = [f"-DTorch_DIR={arguments.torch}", f"-DAPPS={';'.join(arguments.apps)}",
               "-DCMAKE_BUILD_TYPE=None"]
    if shutil.which("ninja"):
        options.append("-GNinja")
    if shutil.which("ccache"):
        os.environ["CCACHE_SLOPPINESS"] = (
            "pch_defines,time_macros,include_file_mtime,include_file_ctime")
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    execute(arguments.cmake, "-S", INPUTS, "-B", arguments.work, *options)
    execute(arguments.cmake, "--build", arguments.work, "-j2")


if __name__ == "__main__":
    main()
