#!/usr/bin/env python3
"""Runs the scenario pairs and asserts what they measure.

    test/scenarios/run.py BUILD [--device cuda] [--check NAME]... [--fixit]

BUILD is where test/scenarios/CMakeLists.txt was built. Each program prints one
line of key=value; which numbers must differ between <check>-wrong and
<check>-fixed follows from the evidence that checks/Checks.def names for the check.
With --fixit, <check>-fixit (wrong.cpp with the analyzer's fixes applied) must
measure as <check>-fixed does.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT_SECONDS = 300


class Failure(Exception):
    pass


def registry():
    """{check: evidence} as checks/Checks.def has them."""
    text = (HERE.parents[1] / "checks" / "Checks.def").read_text()
    return dict(re.findall(r'^CHECK\("([\w-]+)",.*"([\w-]+)"\)$', text, re.M))


def measure(program, device):
    """The numbers that a program prints, as {key: number}."""
    if not program.exists():
        raise Failure(f"{program} is not built")
    run = subprocess.run([program, "--device", device], capture_output=True,
                         text=True, timeout=TIMEOUT_SECONDS)
    if run.returncode != 0:
        raise Failure(f"{program.name} exits with {run.returncode}: {run.stderr.strip()}")
    lines = run.stdout.splitlines()
    if len(lines) != 1:
        raise Failure(f"{program.name} prints {len(lines)} lines, not 1")
    numbers = {}
    for word in lines[0].split():
        key, _, text = word.partition("=")
        if key not in ("torch", "device"):
            numbers[key] = float(text)
    return numbers


def keys_of(numbers, quantity):
    keys = [key for key in numbers if key.endswith("." + quantity)]
    if not keys:
        raise Failure(f"there is no {quantity} in what the program prints")
    return keys


# One function per kind of evidence: rows (key, wrong, fixed, what must hold, holds).

def gradient_accumulation(wrong, fixed):
    """A step is followed by a backward() that adds to what the step has used."""
    for key in keys_of(wrong, "carried_gradient_norm"):
        yield key, "> 0, 0", wrong[key] > 0 and fixed[key] == 0
    for key in keys_of(wrong, "gradient_norm"):
        yield key, "twice as much or more", wrong[key] > 2 * fixed[key]


def graph_nodes_per_iteration(wrong, fixed):
    """Nodes of the graphs of earlier iterations stay alive."""
    for key in keys_of(wrong, "nodes_per_iteration"):
        yield key, ">= 1, 0", wrong[key] >= 1 and fixed[key] == 0
    for key in keys_of(wrong, "bytes_per_iteration"):
        # Under one kilobyte: the numbers themselves, where they are kept.
        yield key, "no less", wrong[key] >= fixed[key] and fixed[key] < 1024


def peak_bytes(wrong, fixed):
    """Saved tensors are alive that nothing needs, until the iteration ends."""
    for key in keys_of(wrong, "peak_bytes"):
        yield key, "1.5 times or more", wrong[key] > 1.5 * fixed[key] > 0
    for key in keys_of(wrong, "new_nodes"):
        yield key, ">= 1, 0", wrong[key] >= 1 and fixed[key] == 0


def allocations_per_iteration(wrong, fixed):
    """Tensors are allocated anew in each iteration that could be used again."""
    for key in keys_of(wrong, "allocations"):
        yield key, "1 more or more", wrong[key] >= fixed[key] + 1
    for key in keys_of(wrong, "allocated_bytes"):
        yield key, "more", wrong[key] > fixed[key]


def copies_per_iteration(wrong, fixed):
    """What does not change is copied or converted in each iteration."""
    for key in keys_of(wrong, "copies"):
        yield key, "1 more or more", wrong[key] >= fixed[key] + 1
    for key in keys_of(wrong, "copied_bytes"):
        yield key, "more", wrong[key] > fixed[key]


EVIDENCE = {
    "allocations-per-iteration": allocations_per_iteration,
    "copies-per-iteration": copies_per_iteration,
    "gradient-accumulation": gradient_accumulation,
    "graph-nodes-per-iteration": graph_nodes_per_iteration,
    "peak-bytes": peak_bytes,
}


def is_time(key):
    return key.endswith(".milliseconds")


def show(key, wrong, fixed, note):
    print(f"  {key:<40} {wrong:>13.7g} {fixed:>13.7g}  {note}")


def compare_pair(evidence, wrong, fixed):
    if evidence not in EVIDENCE:
        raise Failure(f"run.py knows no evidence '{evidence}'")
    if wrong.keys() != fixed.keys():
        raise Failure("wrong and fixed print different keys: "
                      + ", ".join(sorted(wrong.keys() ^ fixed.keys())))
    asserted = {key: (rule, holds)
                for key, rule, holds in EVIDENCE[evidence](wrong, fixed)}
    for key in wrong:
        rule, holds = asserted.get(key, ("", True))
        show(key, wrong[key], fixed[key], rule and f"{'ok' if holds else 'FAILED'} ({rule})")
    failed = [key for key, (_, holds) in asserted.items() if not holds]
    if failed:
        raise Failure("not as it must be: " + ", ".join(failed))


def compare_fixit(fixit, fixed):
    # Where the fix and fixed.cpp clear gradients at different places, sums may
    # differ in their last digits.
    differ = [key for key in fixed if not is_time(key) and
              abs(fixit.get(key, float("nan")) - fixed[key]) > 1e-3 * abs(fixed[key])]
    differ += [key for key in fixed if key not in fixit]
    if differ:
        raise Failure("the fixed copy does not measure as fixed.cpp: " + ", ".join(
            f"{key} {fixit.get(key)} against {fixed[key]}" for key in differ))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--check", action="append", metavar="NAME")
    parser.add_argument("--fixit", action="store_true")
    arguments = parser.parse_args()
    if not arguments.build.is_dir():
        sys.exit(f"error: there is no folder {arguments.build}")
    evidence = registry()
    checks = arguments.check or list(evidence)
    unknown = [check for check in checks if check not in evidence]
    if unknown or not checks:
        sys.exit(f"error: not in checks/Checks.def: {', '.join(unknown)}")

    passed, failed = 0, 0
    for check in checks:
        print(f"{check}: {evidence[check]} on {arguments.device}: wrong, fixed")
        try:
            program = arguments.build.resolve() / check
            wrong, fixed = (measure(program.with_name(f"{check}-{variant}"),
                                    arguments.device) for variant in ("wrong", "fixed"))
            compare_pair(evidence[check], wrong, fixed)
            if arguments.fixit:
                fixit = program.with_name(f"{check}-fixit")
                compare_fixit(measure(fixit, arguments.device), fixed)
                print("  the copy with the analyzer's fixes measures as fixed")
            passed += 1
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
            failed += 1
            print(f"  FAILED: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
