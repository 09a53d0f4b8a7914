#!/usr/bin/env python3
"""Lists the enabled checks under many configurations, and compares them with
what checks/Checks.def and the rules of the levels say."""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tool"))
import registry

CHECKS = registry.read()
ALL = {check.name for check in CHECKS}
ZERO_GRAD, NO_GRAD = "torch-missing-zero-grad", "torch-missing-no-grad"
STOCK = "bugprone-argument-comment"


def up_to(level: int) -> set[str]:
    return {check.name for check in CHECKS if check.level <= level}


# (Checks of .clang-tidy in the outer folder, in the inner one, arguments, expected)
CASES = [
    # Nobody says anything.
    (None, None, [], up_to(1)),
    # Only the level.
    (None, None, ["--level=0"], up_to(0)),
    (None, None, ["--level=1"], up_to(1)),
    (None, None, ["--level=2"], up_to(2)),
    (None, None, ["--level", "0"], up_to(0)),
    # Only .clang-tidy: it stands over the default level.
    ("-*", None, ["--allow-no-checks"], set()),
    ("-*,torch-*", None, [], ALL),
    ("torch-*", None, [], ALL),
    (STOCK, None, [], up_to(1) | {STOCK}),
    ("-*," + STOCK, None, [], {STOCK}),
    (f"-{ZERO_GRAD}", None, [], up_to(1) - {ZERO_GRAD}),
    # An explicit level stands over .clang-tidy. "-*" is no word about torch checks.
    ("-*", None, ["--level=1"], up_to(1)),
    ("-*," + STOCK, None, ["--level=0"], up_to(0) | {STOCK}),
    ("-*,torch-*", None, ["--level=0"], up_to(0)),
    ("torch-*", None, ["--level=0"], up_to(0)),
    ("-torch-*", None, ["--level=2", "--allow-no-checks"], set()),
    # What .clang-tidy disables stays disabled.
    (f"-{ZERO_GRAD}", None, ["--level=0"], up_to(0) - {ZERO_GRAD}),
    (f"-*,torch-*,-{ZERO_GRAD}", None, ["--level=2"], ALL - {ZERO_GRAD}),
    ("-torch-missing-*", None, ["--level=1"],
     {name for name in up_to(1) if not name.startswith("torch-missing-")}),
    # Unless it says otherwise later.
    (f"-torch-*,{ZERO_GRAD}", None, ["--level=2"], {ZERO_GRAD}),
    (f"-{ZERO_GRAD},torch-*", None, ["--level=0"], up_to(0)),
    # Over several folders, the inner with InheritParentConfig.
    (f"-{ZERO_GRAD}", STOCK, ["--level=1"], (up_to(1) - {ZERO_GRAD}) | {STOCK}),
    (f"-{ZERO_GRAD}", "-*," + STOCK, ["--level=1"], (up_to(1) - {ZERO_GRAD}) | {STOCK}),
    (f"-{ZERO_GRAD}", ZERO_GRAD, ["--level=0"], up_to(0)),
    # --checks stands over all.
    (None, None, ["--checks=-*," + NO_GRAD], {NO_GRAD}),
    (None, None, ["--checks=" + STOCK], up_to(1) | {STOCK}),
    (None, None, ["--checks=torch-*"], ALL),
    (f"-{ZERO_GRAD}", None, ["--level=0", "--checks=" + ZERO_GRAD], up_to(0)),
    (None, None, ["--level=0", "--checks=" + NO_GRAD], up_to(0) | {NO_GRAD}),
    (None, None, ["--level=2", "--checks=-" + NO_GRAD], ALL - {NO_GRAD}),
    (None, None, ["--level=2", "--checks=-*," + STOCK], {STOCK}),
    # The order on the command line does not count.
    (None, None, ["--checks=-" + ZERO_GRAD, "--level=0"], up_to(0) - {ZERO_GRAD}),
    # --config takes the place of .clang-tidy.
    ("-torch-*", None, ["--config={Checks: '-%s'}" % ZERO_GRAD, "--level=1"],
     up_to(1) - {ZERO_GRAD}),
    ("-torch-*", None, ["--config={Checks: '-*,%s'}" % STOCK], {STOCK}),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torch-tidy", required=True, type=shlex.split)
    parser.add_argument("--work", required=True, type=Path)
    arguments = parser.parse_args()

    problems = 0
    for outer, inner, words, expected in CASES:
        folder = arguments.work / "inner"
        shutil.rmtree(arguments.work, ignore_errors=True)
        folder.mkdir(parents=True)
        (arguments.work / ".clang-tidy").write_text(
            f"Checks: '{outer}'\n" if outer is not None else "User: nobody\n")
        if inner is not None:
            (folder / ".clang-tidy").write_text(
                f"InheritParentConfig: true\nChecks: '{inner}'\n")
        done = subprocess.run(
            [*arguments.torch_tidy, "--list-checks", *words, str(folder / "file.cpp")],
            capture_output=True, text=True)
        enabled = set(re.findall(r"^    (\S+)$", done.stdout, re.M))
        if enabled != expected or done.returncode or done.stderr:
            problems += 1
            print(f".clang-tidy {outer!r}, inner {inner!r}, {' '.join(words)}: "
                  f"exit code {done.returncode}\n  enabled  {sorted(enabled)}\n"
                  f"  expected {sorted(expected)}\n{done.stderr}")
    print(f"{len(CASES)} command lines, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
