#!/usr/bin/env python3
"""Runs the example application and its corrected twin under torch-confirm and
asserts the verdicts.

    confirm_apps.py WORK --torch-confirm FILE --torch-tidy FILE --build FOLDER ...

The build folder is that of the programs, which confirm_build.py has made. Marked findings
are made by torch-tidy; findings that are wrong come from confirm_planted.py.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import confirm_planted

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "test" / "apps"
PROGRAMS = ["charlm", "vision", "server"]
MARKER = re.compile(r"// BAD: *([\w-]+)\s*$")
# File, line, check; verdict, sentence.
Key = tuple[str, int, str]
Verdict = tuple[str, str]


def execute(*words: object) -> subprocess.CompletedProcess[str]:
    run = subprocess.run([str(word) for word in words], text=True, capture_output=True,
                         timeout=600)
    if run.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, words))} exits with {run.returncode}:\n"
                 f"{run.stdout[-4000:]}{run.stderr[-4000:]}")
    return run


def verdicts(findings: Path) -> dict[Key, Verdict]:
    """{(file, line, check): (verdict, sentence)} of a SARIF file."""
    result = {}
    for each in json.loads(findings.read_text())["runs"][0]["results"]:
        place = each["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        own = each["properties"]["torchConfirm"]
        assert own["sentence"] in each["message"]["text"]
        result[uri.split("/apps/")[1], place["region"]["startLine"], each["ruleId"]] = (
            own["verdict"], own["sentence"])
    return result


def marked(app: str) -> Iterator[Key]:
    for path in sorted((APPS / app).rglob("*")):
        if path.suffix in {".h", ".cpp"}:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if match := MARKER.search(line):
                    yield str(path.relative_to(APPS)), number, match[1]


class Cases:
    def __init__(self) -> None:
        self.failed = 0

    def expect(self, key: Key, expected: str, actual: Verdict | None) -> None:
        ok = actual is not None and actual[0] == expected
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {key[0]}:{key[1]} {key[2]}: {actual}"
              + ("" if ok else f", expected {expected}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    for name in ["--torch-confirm", "--torch-tidy", "--cmake", "--torch", "--cache-dir"]:
        parser.add_argument(name, required=True)
    parser.add_argument("--build", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"
    cases = Cases()
    confirm = [arguments.torch_confirm, "run", "--cache-dir", arguments.cache_dir,
               "--update", "--findings"]

    # What torch-tidy finds, of all three programs in one file.
    database = arguments.work / "database"
    execute(arguments.cmake, "-S", APPS / "example", "-B", database, "-GNinja",
            f"-DTorch_DIR={arguments.torch}")
    findings = arguments.work / "example.sarif"
    for number, program in enumerate(PROGRAMS):
        analysis = ["--analyze", "-p", database, "--torch-tidy",
                    arguments.torch_tidy] if number == 0 else []
        execute(*confirm, findings, *analysis, "--",
                arguments.build / "example" / program)
    found = verdicts(findings)
    for key in marked("example"):
        # Without a device there is nothing to copy to.
        on_cpu = "CONFIRMED" if "class_weights" not in (
            APPS / key[0]).read_text().splitlines()[key[1] - 1] else "NOT MEASURABLE HERE"
        cases.expect(key, on_cpu, found.pop(key, None))
    for key, value in found.items():
        cases.expect(key, "no such finding", value)

    for app, planted in [("example", confirm_planted.EXAMPLE),
                         ("example-fixed", confirm_planted.TWIN)]:
        findings = arguments.work / f"{app}-planted.sarif"
        findings.write_text(confirm_planted.sarif(APPS / app, planted,
                                                  confirm_planted.measures()))
        for program in PROGRAMS:
            execute(*confirm, findings, "--", arguments.build / app / program)
        results = json.loads(findings.read_text())["runs"][0]["results"]
        for each, result in zip(planted, results):
            place = result["locations"][0]["physicalLocation"]["region"]["startLine"]
            own = result["properties"]["torchConfirm"]
            cases.expect((f"{app}/{each.file}", place, each.check), each.verdict,
                         (own["verdict"], own["sentence"]))
    print(f"{cases.failed} failed")
    sys.exit(1 if cases.failed else 0)


if __name__ == "__main__":
    main()
