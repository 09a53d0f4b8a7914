#!/usr/bin/env python3
"""Builds the programs of docs/walkthrough.md, analyses and runs them, and compares with what
the page says of them.

    walkthrough.py WORK --torch-tidy FILE --torch-confirm FILE --cmake FILE --cxx COMMAND
                   --torch FOLDER --cache-dir FOLDER

The page shows both programs as they are; its table has the lines, checks and verdicts. Numbers
are those of one run, and are not compared.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "test" / "apps" / "walkthrough"
PAGE = ROOT / "docs" / "walkthrough.md"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test" / "support"))
import cmake_build  # noqa: E402

BLOCK = re.compile(r"(?<=^```cpp\n).*?(?=^```$)", re.M | re.S)
ROW = re.compile(r"^\| (\d+) \| \[([\w-]+)\]\(checks/\2\.md\) \| .+? \| ([A-Z ]+) \| .+ \|$",
                 re.M)
VALIDATION = re.compile(r"validation ([\d.]+)")
# Line, check, verdict.
Row = tuple[int, str, str]


class Cases:
    def __init__(self) -> None:
        self.failed = 0

    def expect(self, what: str, ok: bool, detail: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {what}" + ("" if ok else f": {detail}"))


def results(findings: Path) -> list[Row]:
    """What a SARIF file says, with the verdict, or "" before a run."""
    found = []
    for each in json.loads(findings.read_text())["runs"][0]["results"]:
        line = each["locations"][0]["physicalLocation"]["region"]["startLine"]
        confirm = each["properties"].get("torchConfirm", {})
        found.append((line, each["ruleId"], confirm.get("verdict", "")))
    return sorted(found)


def error_of(program: Path) -> float:
    """The last validation error that it prints."""
    return float(VALIDATION.findall(cmake_build.execute(program))[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    for name in ["--torch-tidy", "--torch-confirm", "--cmake", "--cxx", "--torch",
                 "--cache-dir"]:
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    # Threads that share cores with other work wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    cases = Cases()
    page = PAGE.read_text()

    shown = BLOCK.findall(page)
    for name, text in zip(["wrong", "right"], shown):
        cases.expect(f"the page shows {name}.cpp as it is",
                     text == (APPS / f"{name}.cpp").read_text())
    cases.expect("the page shows two programs", len(shown) == 2, len(shown))

    build = arguments.work / "build"
    cmake_build.build(APPS, build, f"-DTorch_DIR={arguments.torch}",
                      f"-DCMAKE_CXX_COMPILER={arguments.cxx}", cmake=arguments.cmake)
    for name, level in [("wrong", 2), ("right", 1)]:
        subprocess.run([arguments.torch_tidy, "--quiet", "-p", build, f"--level={level}",
                        f"--sarif={arguments.work / name}.sarif", APPS / f"{name}.cpp"],
                       check=True, capture_output=True)
    cases.expect("nothing is found in right.cpp",
                 not results(arguments.work / "right.sarif"),
                 results(arguments.work / "right.sarif"))
    findings = arguments.work / "wrong.sarif"
    cmake_build.execute(arguments.torch_confirm, "run", "--cache-dir", arguments.cache_dir,
                        "--update", "--findings", findings, "--", build / "wrong")
    said = sorted((int(line), check, verdict) for line, check, verdict in ROW.findall(page))
    cases.expect("the table has the findings and verdicts of today",
                 said == results(findings), f"page {said}, today {results(findings)}")
    cases.expect("some are confirmed", any(row[2] == "CONFIRMED" for row in said))

    errors = {name: error_of(build / name) for name in ["wrong", "right"]}
    cases.expect("the right one learns better", errors["right"] < 0.7 * errors["wrong"], errors)
    print(f"{cases.failed} failed")
    sys.exit(1 if cases.failed else 0)


if __name__ == "__main__":
    main()
