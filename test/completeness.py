#!/usr/bin/env python3
"""Checks that the project is whole: every row of checks/Checks.def has its sources,
page, tests and scenario pair, and nothing exists without a row.

Prints a line for each thing tested; ends with 1 when one failed.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tool"))
sys.dont_write_bytecode = True
import registry  # noqa: E402

UNFINISHED = "FIXME(new-check)"
SECTIONS = ["Why", "Example", "When it is quiet", "How to silence it", "Options",
            "Known limits", "Evidence"]


def missing_parts(check):
    for path in [check.source(".h"), check.source(".cpp"), check.page(),
                 check.scenario() / "wrong.cpp", check.scenario() / "fixed.cpp",
                 check.scenario() / "made/findings.json"]:
        if not (ROOT / path).is_file():
            yield f"{path} is missing"
    tests = sorted((ROOT / check.tests()).glob("*.cpp"))
    if not tests:
        yield f"{check.tests()} holds no test"
    texts = "".join(test.read_text() for test in tests)
    if tests and not re.search(r"CHECK-(MESSAGES|NOTES)", texts):
        yield f"no test in {check.tests()} expects a finding"


def unfinished_parts(check):
    if check.evidence == "fixme":
        yield f"{registry.FILE}: choose the evidence of {check.name}"
    places = [check.source(".h"), check.source(".cpp"), check.page()]
    for folder in [check.tests(), check.scenario()]:
        if (ROOT / folder).is_dir():
            places += sorted(p.relative_to(ROOT) for p in (ROOT / folder).rglob("*"))
    for path in places:
        if (ROOT / path).is_file() and UNFINISHED in (ROOT / path).read_text():
            yield f"{path} still says {UNFINISHED}"


def page_sections(check):
    path = ROOT / check.page()
    if path.is_file():
        lines = path.read_text().splitlines()
        if lines[:1] != [f"# {check.name}"]:
            yield f"{check.page()} does not begin with '# {check.name}'"
        for section in SECTIONS:
            if f"## {section}" not in lines:
                yield f"{check.page()} has no section '{section}'"


def marked_scenarios(check):
    """The harness and the tests find the mistake of a scenario by its mark."""
    for name, expected in [("wrong.cpp", True), ("fixed.cpp", False)]:
        path = ROOT / check.scenario() / name
        if path.is_file() and ("// BAD" in path.read_text()) != expected:
            yield (f"{check.scenario() / name} "
                   f"{'lacks' if expected else 'has'} a line marked // BAD")
    path = ROOT / check.scenario() / "wrong.cpp"
    states = r"^// MEASURE .*( (factor|more|at)=| differs| sanitizer-reports| wrong=.* fixed=)"
    if path.is_file() and not re.search(states, path.read_text(), re.M):
        yield f"{path.relative_to(ROOT)} does not state what tells it from fixed.cpp"


def order(checks):
    if [c.order() for c in checks] != sorted(c.order() for c in checks):
        yield f"{registry.FILE}: sort the rows by level, then by name"
    for what, names in [("name", [c.name for c in checks]),
                        ("class", [c.cls for c in checks])]:
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{registry.FILE}: two rows have the {what} {name}"


def strays(checks):
    """Pages, tests, scenarios and sources that no row names."""
    names = {check.name for check in checks}
    for path in sorted((ROOT / "docs/checks").glob("*.md")):
        if path.name != "README.md" and path.stem not in names:
            yield f"{path.relative_to(ROOT)} is the page of no check"
    for parent in ["test/checks", "test/scenarios"]:
        for path in sorted((ROOT / parent).glob("torch-*")):
            if path.name not in names:
                yield f"{path.relative_to(ROOT)} is the folder of no check"
    sources = {check.source(suffix) for check in checks for suffix in [".h", ".cpp"]}
    for path in sorted((ROOT / "checks").glob("*/*Check.*")):
        if path.suffix in [".h", ".cpp"] and path.relative_to(ROOT) not in sources:
            yield f"{path.relative_to(ROOT)} is the source of no check"


def sample():
    path = ROOT / "test/sample.txt"
    lines = [line for line in path.read_text().splitlines()
             if line and not line.startswith("#")]
    if not lines:
        yield "test/sample.txt names no test"
    for line in lines:
        if not (ROOT / "test" / line).is_file():
            yield f"test/sample.txt: {line} does not exist"


def stale_index():
    result = subprocess.run([sys.executable, str(ROOT / "tool/docs-index"), "--check"],
                            stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        yield result.stderr.strip()


def main():
    checks = registry.read(ROOT)
    tests = [("order of the rows", order(checks)), ("nothing without a row", strays(checks)),
             ("sample of lit tests", sample()), ("documentation index", stale_index())]
    for check in checks:
        tests += [(f"{check.name}: parts", missing_parts(check)),
                  (f"{check.name}: finished", unfinished_parts(check)),
                  (f"{check.name}: page", page_sections(check)),
                  (f"{check.name}: marks", marked_scenarios(check))]
    failed = 0
    for name, problems in tests:
        problems = list(problems)
        print(f"{'FAIL' if problems else 'PASS'}: {name}")
        for problem in problems:
            print(f"    {problem}")
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
