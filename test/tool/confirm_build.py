#!/usr/bin/env python3
"""Builds the program of Inputs/confirm into WORK, and the example application with its
corrected twin into APPS, where other tests find them built.

    confirm_build.py WORK --apps APPS --cmake CMAKE --torch FOLDER
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "apps"), str(HERE.parent / "support")]
import cmake_build  # noqa: E402
import run  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--apps", type=Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--torch", required=True)
    arguments = parser.parse_args()
    torch = f"-DTorch_DIR={arguments.torch}"
    cmake_build.build(HERE / "Inputs" / "confirm", arguments.work, torch,
                      "-DCMAKE_BUILD_TYPE=None", cmake=arguments.cmake)
    run.build(arguments.apps, torch, cmake=arguments.cmake)


if __name__ == "__main__":
    main()
