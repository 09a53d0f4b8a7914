#!/usr/bin/env python3
"""Runs all torch checks on the lit tests below test/checks, the scenarios and the
example application in three ways, and compares what they print and export: the driver
with its header cache, the driver without, and the plugin in stock clang-tidy. (The last
two with a precompiled header that keeps the bodies of functions: it means what the
headers mean.)

    parity.py --site SITE.JSON --work FOLDER [--shard I/N] [FILE...]

The headers of the user are included (--header-filter=.*). A test's own options count:
those of its RUN line that configure the check or the compiler.
"""

import argparse
import difflib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

TEST = Path(__file__).resolve().parents[1]
RUN = re.compile(r"^// *RUN: *%check_torch +%s +(?P<words>.*)$", re.M)
SETTINGS = ["--checks=-*,torch-*,clang-diagnostic-error", "--header-filter=.*", "--quiet"]


def options(path: Path) -> tuple[list[str], list[str], bool]:
    """(options of the tool, options of the compiler, whether the header fits) of the
    first RUN line: %check_torch %s CHECK %t [...] [-- tool options [-- compiler's]]"""
    match = RUN.search(path.read_text())
    if not match:
        return [], [], True
    parts: list[list[str]] = [[]]
    for word in shlex.split(match["words"]):
        if word == "--" and len(parts) < 3:
            parts.append([])
        else:
            parts[-1].append(word)
    parts += [[]] * (3 - len(parts))
    standard = [word for word in parts[0] if word.startswith("-std=")]
    parts[2] = [word.replace("%S", str(path.parent)) for word in parts[2]]
    # Another standard or another language (-fopenmp) does not fit the precompiled header.
    # What is tested with -no-pch alone does: that is there to see that nothing changes.
    return (parts[1], standard + parts[2],
            not standard and not any(word.startswith("-f") for word in parts[2]))


def run(command: list[str], path: Path, site: dict[str, Any], fixes: Path,
        use_pch: bool = True) -> dict[str, Any]:
    tool, compiler, with_pch = options(path)
    pch = ["-include-pch", site["pch"]] if with_pch and use_pch else []
    fixes.unlink(missing_ok=True)
    words = [*command, *SETTINGS, f"--export-fixes={fixes}", str(path), *tool, "--",
             *site["torch_flags"], *pch, "-I", str(path.parent),
             "-I", str(TEST / "scenarios" / "support"), *compiler]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1):
        sys.exit(f"exit code {done.returncode}: {shlex.join(words)}\n{done.stderr}")
    return {"output": done.stdout, "exit code": str(done.returncode),
            "exported fixes": fixes.read_text() if fixes.exists() else "",
            "cached": "parsed with " in done.stderr}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--shard", default="1/1", help="the I-th of N parts")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    site = json.loads(arguments.site.read_text())
    arguments.work.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, arguments.shard.split("/"))
    files = arguments.files or sorted(
        path for folder in ["checks", "scenarios", "apps"]
        for path in (TEST / folder).rglob("*.cpp"))[part - 1::parts]
    if os.environ.get("TORCH_TIDY_TEST_SAMPLE") == "0":  # test/run --quick
        files = files[:2]

    findings = problems = cached = 0
    for path in files:
        path = path.resolve()
        ways = {
            "plugin": run([site["clang_tidy"], "-load=" + site["plugin"]], path, site,
                          arguments.work / "plugin.yaml"),
            "driver": run([site["torch_tidy"], "--no-cache"], path, site,
                          arguments.work / "driver.yaml"),
            "driver with cache": run([site["torch_tidy"], "--fresh", "--explain-cache"], path, site,
                                     arguments.work / "cached.yaml", use_pch=False)}
        findings += len(re.findall(r"warning: .* \[torch-", ways["plugin"]["output"]))
        cached += ways["driver with cache"]["cached"]
        # Clang gives up where a header is missing. The driver goes on.
        if "file not found [clang-diagnostic-error]" in ways["plugin"]["output"]:
            del ways["plugin"]
        reference, expected = next(iter(ways.items()))
        for name, way in ways.items():
            for what in ["output", "exit code", "exported fixes"]:
                if way[what] == expected[what]:
                    continue
                problems += 1
                print(f"{path}: {what} differs\n" + "".join(difflib.unified_diff(
                    expected[what].splitlines(True), way[what].splitlines(True),
                    reference, name)), flush=True)
    if not findings:
        problems += 1
        print("nothing is found in any file: that compares nothing")
    print(f"{len(files)} files, {cached} with the cache, {findings} findings, "
          f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
