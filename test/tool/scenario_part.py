#!/usr/bin/env python3
"""Prints the options of torch-confirm scenarios for every N-th of the scenario pairs.

    scenario_part.py K/N    from the K-th, counted from 1
"""

import sys
from pathlib import Path


def main() -> None:
    part, parts = map(int, sys.argv[1].split("/"))
    folder = Path(__file__).resolve().parent.parent / "scenarios"
    pairs = sorted(path.parent.name for path in folder.glob("*/wrong.cpp"))
    print(" ".join(f"--check {name}" for name in pairs[part - 1::parts]))


if __name__ == "__main__":
    main()
