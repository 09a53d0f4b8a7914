#!/usr/bin/env python3
"""The probe with another LibTorch than the one that the tests are built with: Debian's.

    confirm_other_libtorch.py WORK --torch-confirm FILE --cache-dir FOLDER

Its packages are downloaded with apt-get and unpacked into WORK, nothing is installed. Where
they cannot be had, "skipped: <why>" is printed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = "libtorch-dev"
# Whatever the version of LibTorch is, on the CPU all of it is measured.
QUANTITIES = ["operations", "cpu-memory", "graph-nodes", "gradients", "copies",
              "synchronisations", "exceptions", "call-stacks", "line-numbers",
              "wrapped-memory", "members", "casts"]
PROGRAM = """#include <torch/torch.h>
int main() {
  torch::nn::Linear net(8, 4);
  std::vector<torch::Tensor> losses;
  for (int i = 0; i < 40; ++i) {
    auto loss = net->forward(torch::ones({2, 8})).sum();
    losses.push_back(loss); // KEPT
  }
  try {
    net->weight.mul_(2); // THROWS
  } catch (const c10::Error &) {
  }
}
"""


class Skipped(Exception):
    """Another LibTorch is not to be had; the text says why."""


def run(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **more)


def unpack(work: Path) -> Path:
    """The folder that then holds usr/."""
    for program in ["apt-get", "dpkg-deb"]:
        if not shutil.which(program):
            raise Skipped(f"there is no {program}")
    # What is installed is there already.
    plan = run("apt-get", "install", "-s", "--no-install-recommends", PACKAGE)
    names = re.findall(r"^Inst (\S+)", plan.stdout, re.M)
    if plan.returncode != 0 or PACKAGE not in names:
        raise Skipped(f"apt-get offers no {PACKAGE}")
    packages, root = work / "packages", work / "root"
    packages.mkdir(parents=True, exist_ok=True)
    if not all(list(packages.glob(f"{name}_*.deb")) for name in names):
        got = run("apt-get", "download", *names, cwd=packages)
        if got.returncode != 0:
            raise Skipped("apt-get download fails: " + got.stderr.strip()[-300:])
    for file in sorted(packages.glob("*.deb")):
        done = run("dpkg-deb", "-x", file, root)
        if done.returncode != 0:
            sys.exit(f"error: {file.name} cannot be unpacked: {done.stderr}")
    return root


def build(work: Path, root: Path) -> str:
    include = root / "usr/include"
    libraries = next(root.glob("usr/lib/*/libtorch_cpu.so")).parent
    (work / "main.cpp").write_text(PROGRAM)
    done = run("c++", "-std=c++17", "-g", work / "main.cpp", "-o", work / "main",
               "-isystem", include, "-isystem", include / "torch/csrc/api/include",
               "-L", libraries, "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10",
               f"-Wl,-rpath-link,{libraries}", "-Wl,--allow-shlib-undefined")
    if done.returncode != 0:
        sys.exit(f"error: the program does not build:\n{done.stderr[-3000:]}")
    # Debian has some of them beside the others, and some in /lib.
    folders = sorted({str(file.parent) for where in ("usr/lib", "lib")
                      for file in root.glob(f"{where}/**/*.so*")})
    return os.pathsep.join(folders)


def line_of(mark: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1)
                if line.endswith("// " + mark))


def finding(work: Path, check: str, evidence: str, line: int,
            kind: str | None = None, site: int | None = None) -> dict[str, Any]:
    def place(number: int) -> dict[str, Any]:
        return {"physicalLocation": {
            "artifactLocation": {"uri": (work / "main.cpp").as_uri()},
            "region": {"startLine": number, "startColumn": 5}}}

    own: dict[str, Any] = {"evidence": evidence}
    if kind:
        own["kind"] = kind
    if site:
        own["iterationSite"] = place(site)
    return {"ruleId": check, "message": {"text": "planted"}, "locations": [place(line)],
            "properties": {"torchTidy": own}}


def test(work: Path, arguments: argparse.Namespace) -> int:
    root = unpack(work)
    libraries = build(work, root)
    kept = line_of("KEPT")
    results = [finding(work, "torch-retained-graph", "graph-nodes-per-iteration", kept,
                       "grows", kept - 1),
               finding(work, "torch-made-exception", "exception", line_of("THROWS"))]
    sarif = work / "findings.sarif"
    sarif.write_text(json.dumps({"version": "2.1.0", "runs": [
        {"tool": {"driver": {"name": "torch-tidy"}}, "results": results}]}))
    done = run(arguments.torch_confirm, "run", "--findings", sarif, "--libtorch",
               root / "usr", "--cache-dir", arguments.cache_dir, "--json",
               work / "verdicts.json", "--recording", work / "recording.json", "--",
               work / "main",
               env={**os.environ, "LD_LIBRARY_PATH": libraries,
                    "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"error: torch-confirm ends with {done.returncode}:\n{done.stderr}")
    failed = 0

    def check(name: str, is_right: bool, more: object) -> None:
        nonlocal failed
        failed += not is_right
        print(f"{'ok' if is_right else 'FAILED'}: {name}{'' if is_right else f': {more}'}")

    recording = json.loads((work / "recording.json").read_text())
    print(f"LibTorch {recording['libtorch']}")
    for quantity in QUANTITIES:
        known = recording["capabilities"][quantity]
        check(quantity, known["available"], known)
    shapes = [shape["shape"] for site in recording["sites"]
              if site["operation"] == "aten::addmm" for shape in site.get("shapes", [])]
    check("shapes", shapes == ["Float[4], Float[2,8], Float[8,4] on cpu"], shapes)
    for each in json.loads((work / "verdicts.json").read_text())["findings"]:
        check(f"{each['check']}: {each['sentence']}", each["verdict"] == "CONFIRMED", each)
    print(f"{failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--torch-confirm", required=True)
    parser.add_argument("--cache-dir", required=True)
    arguments = parser.parse_args()
    try:
        return test(arguments.work.resolve(), arguments)
    except Skipped as why:
        print(f"skipped: {why}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
