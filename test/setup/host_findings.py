#!/usr/bin/env python3
"""What the plugin finds in a clang-tidy: all torch checks over all tests of checks and all
scenarios, one line for each finding. Two such lists, of clang-tidies of two versions, are held
side by side by diff.

usage: host_findings.py CLANG CLANG_TIDY PLUGIN LIBTORCH SOURCE
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FINDING = re.compile(r"^(.*?):(\d+):(\d+): (warning|error|note): (.*)$")


def findings(clang_tidy: str, plugin: str, flags: list[str], source: Path, path: Path) -> list[str]:
    run = subprocess.run(
        [clang_tidy, f"-load={plugin}", "-checks=-*,torch-*", "-quiet", str(path), "--", *flags],
        capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        return [f"{path.relative_to(source)}: ended with {run.returncode}"]
    lines = []
    for line in run.stdout.splitlines():
        match = FINDING.match(line)
        # Which errors a Clang has, and how it says them, is its own.
        if match and "clang-diagnostic" not in line and match[1].startswith(str(source)):
            place = Path(match[1]).relative_to(source)
            lines.append(f"{place}:{match[2]}:{match[3]}: {match[4]}: {match[5]}")
    return lines


def main() -> None:
    clang, clang_tidy, plugin, libtorch, folder = sys.argv[1:]
    source = Path(folder).resolve()
    flags = ["-std=c++17", "-w", "-isystem", f"{libtorch}/include", "-isystem",
             f"{libtorch}/include/torch/csrc/api/include"]
    files = sorted([*source.glob("test/checks/*/*.cpp"), *source.glob("test/scenarios/*/*.cpp")])
    with tempfile.TemporaryDirectory() as work:
        header = Path(work, "torch.pch")
        subprocess.run([clang, *flags, "-fpch-instantiate-templates", "-x", "c++-header", "-o",
                        str(header), f"{libtorch}/include/torch/csrc/api/include/torch/torch.h"],
                       check=True)
        flags += ["-include-pch", str(header), f"-I{source}/test/scenarios"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for lines in pool.map(
                    lambda path: findings(clang_tidy, plugin, flags, source, path), files):
                for line in lines:
                    print(line)
    print(f"{len(files)} files", file=sys.stderr)


if __name__ == "__main__":
    main()
