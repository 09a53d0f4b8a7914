#!/usr/bin/env python3
"""Hits of lines: runs Inputs/confirm/lines alone and under torch-confirm, and compares what
the programs do and what is said of their lines.

    confirm_lines.py WORK --torch-confirm FILE --cache-dir FOLDER --cxx COMPILER --torch FOLDER
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INPUTS = Path(__file__).resolve().parent / "Inputs" / "confirm" / "lines"
SOURCES = ["lines.cpp", "lines.h", "plugin.cpp"]
RAN, NOT, MAY, UNKNOWN = "ran", "did not run", "may have run", "unknown"


def marked() -> dict[str, tuple[str, int]]:
    """Lines by their comments."""
    return {found[1]: (file, number) for file in SOURCES
            for number, line in enumerate((INPUTS / file).read_text().splitlines(), 1)
            if (found := re.search(r"; +// ([\w ]+)$", line))}


MARKED = marked()
# Of each way to run: the lines that run, of those that are marked.
AT_START = ["static"]
STORE, SEVERAL = ["store", "assign"], ["template", "lambda", "inlined"]
WAYS = {"": STORE + SEVERAL, "threads": ["threads"], "fork": ["child"],
        "exec": STORE + SEVERAL, "system": STORE + SEVERAL,
        "handler": [*STORE, "handler", "after handler"], "jump": STORE,
        "once": [*STORE, "handler"], "instruction": [*STORE, "handler"], "ignored": STORE,
        "blocked": STORE + SEVERAL, "default": [], "files": STORE,
        "open": ["plugin", "plugin start"]}


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.work, self.failed = arguments.work.resolve(), 0
        self.work.mkdir(parents=True, exist_ok=True)
        self.cxx, self.torch = shlex.split(arguments.cxx), arguments.torch
        self.confirm = [arguments.torch_confirm, "run", "--cache-dir", arguments.cache_dir]
        self.findings = self.work / "findings.txt"
        self.findings.write_text("".join(
            f"{INPUTS / file}:{line}:5: warning: planted [torch-retained-graph]\n"
            for file, line in MARKED.values()))

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}")

    def equal(self, name: str, got: object, expected: object) -> None:
        self.check(f"{name} is {expected}", got == expected, got)

    def build(self) -> None:
        headers = self.torch + "/include"
        library = ["-L" + self.torch + "/lib", "-Wl,-rpath," + self.torch + "/lib",
                   "-ltorch_cpu", "-lc10", "-ldl", "-pthread"]
        common = [*self.cxx, "-std=c++17"]

        def run(*words: str) -> None:
            subprocess.run([*common, *words], check=True)

        def link(level: str) -> None:
            program, plugin = self.program(level)
            run("-g", level, str(INPUTS / "lines.cpp"), str(self.work / "torch.o"), "-o",
                str(program), *library)
            run("-g", level, "-shared", "-fPIC", str(INPUTS / "plugin.cpp"), "-o",
                str(plugin))

        run("-O0", "-isystem", headers, "-c", str(INPUTS / "torch.cpp"), "-o",
            str(self.work / "torch.o"))
        for level in ["-O0", "-O2"]:
            self.program(level)[0].parent.mkdir(exist_ok=True)
            link(level)

    def program(self, level: str) -> tuple[Path, Path]:
        folder = self.work / level[1:]
        return folder / "lines", folder / "plugin.so"

    def run(self, level: str, way: str, *options: str, plugin: Path | None = None,
            program: Path | None = None, start: tuple[str, ...] = ()) \
            -> tuple[dict[str, str], dict[str, str], str]:
        """The states of marked lines and their verdicts, and what was said. The program
        does the same as alone."""
        usual, own = self.program(level)
        words = [str(program or usual), way, *([str(plugin or own)] if way == "open" else [])]
        name = " ".join([f"{level} '{way}'", *options, *map(str, start[:1]),
                         *map(str, filter(None, [plugin]))])
        base = self.work / re.sub(r"\W", "-", name)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        alone = subprocess.run([*start, *words], capture_output=True, text=True,
                               env=environment, timeout=100)
        run = subprocess.run(
            [*start, *self.confirm, "--findings", str(self.findings), "--recording",
             f"{base}.recording", "--json", f"{base}.json", "--output", f"{base}.txt",
             *options, "--", *words], capture_output=True, text=True, env=environment,
            timeout=300)
        self.check(f"{name}: ends with {alone.returncode}",
                   run.returncode == alone.returncode, run)
        self.check(f"{name}: output", run.stdout == alone.stdout,
                   (alone.stdout, run.stdout))
        recording = json.loads(base.with_name(base.name + ".recording").read_text())
        verdicts = json.loads(base.with_name(base.name + ".json").read_text())["findings"]
        by_place: dict[tuple[str, int], set[str]] = {}
        for line in recording.get("lines", []):
            key = Path(line["file"]).name, line["line"]
            by_place.setdefault(key, set()).add(line.get("state", UNKNOWN))
        states = {mark: "/".join(sorted(by_place.get(place, {"none"})))
                  for mark, place in MARKED.items()}
        told = {mark: f"{each['verdict']}: {each['sentence']}"
                for mark, place in MARKED.items() for each in verdicts
                if (Path(each["file"]).name, each["line"]) == place}
        return states, told, run.stderr


def ways(test: Test) -> None:
    def one(case: tuple[str, str]) -> None:
        level, way = case
        states, told, _ = test.run(level, way)
        for mark, state in states.items():
            name = f"{level} '{way}': {mark}"
            runs = mark in AT_START + WAYS[way]
            if runs:
                # GCC begins no statement in the code that is left of this one.
                exact = level == "-O0" or mark != "template"
                test.check(f"{name} ran", state in ([RAN] if exact else [RAN, MAY]),
                           (state, told[mark]))
                test.check(f"{name} is told", told[mark].startswith("NOT MEASURABLE HERE")
                           and "the line ran" in told[mark], told[mark])
            else:
                # A compiler may have left no code of a line, or moved it; and -O0 is exact.
                test.check(f"{name} did not run",
                           state in ([NOT] if level == "-O0" else [NOT, MAY, "none"]),
                           (state, told[mark]))
                if state == NOT:
                    test.check(f"{name} is told",
                               told[mark].startswith("NOT REACHED: the line did not run"),
                               told[mark])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, [(level, way) for level in ["-O0", "-O2"] for way in WAYS]))


def doubts(test: Test) -> None:
    """What is not known is never told as if it were, and the reason is said."""
    def all_told(name: str, states: dict[str, str], told: dict[str, str], expected: str,
                 marks: list[str]) -> None:
        for mark in marks:
            test.check(f"{name}: {mark}: {expected}", expected in told[mark],
                       (states[mark], told[mark]))

    # Nobody could know of it before, and it has the lines.
    elsewhere = test.work / "elsewhere" / "plugin.so"
    alone = test.work / "alone" / "lines"
    for folder in [elsewhere.parent, alone.parent]:
        folder.mkdir(exist_ok=True)
    shutil.copy(test.program("-O0")[1], elsewhere)
    shutil.copy(test.program("-O0")[0], alone)
    states, told, _ = test.run("-O0", "open", plugin=elsewhere, program=alone)
    test.equal("opened elsewhere", states["plugin"], UNKNOWN)
    all_told("opened elsewhere", states, told,
             f"it is in '{elsewhere}', which is not known before the program runs",
             ["plugin", "plugin start", "plugin never"])
    test.equal("opened elsewhere: store", states["store"], NOT)
    # The program wants its SIGTRAP: then it is all its own.
    states, told, _ = test.run("-O0", "waits")
    test.equal("waits: store", states["store"], RAN)
    all_told("waits", states, told, "the program raised SIGTRAP itself",
             ["after wait", "store never"])
    # As it is started by a program that blocks SIGTRAP.
    states, told, _ = test.run("-O0", "blocked", start=BLOCKED)
    test.equal("started blocked: store", states["store"], RAN)
    test.equal("started blocked: store never", states["store never"], NOT)
    states, told, errors = test.run("-O0", "", "--no-line-hits")
    test.equal("--no-line-hits", set(states.values()), {"none"})
    test.check("--no-line-hits is said", "line-hits: --no-line-hits was given" in errors,
               errors)
    all_told("--no-line-hits", states, told, "NOT REACHED: no operation", ["store"])


BLOCKED = (sys.executable, "-c", "import os, signal, sys; signal.pthread_sigmask("
           "signal.SIG_BLOCK, [signal.SIGTRAP]); os.execvp(sys.argv[1], sys.argv[1:])")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    for option in ["--torch-confirm", "--cache-dir", "--cxx", "--torch"]:
        parser.add_argument(option, required=True)
    test = Test(parser.parse_args())
    test.build()
    ways(test)
    doubts(test)
    return 1 if test.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
