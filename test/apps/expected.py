#!/usr/bin/env python3
"""Compares what the analyzer finds in whole folders with what is marked there.

    expected.py --front NAME=COMMAND... --work FOLDER --flags COMPILER_FLAGS ROOT...

A marker is an end-of-line comment on the line where a finding is expected:

    losses.push_back(loss);  // BAD: torch-retained-graph
    losses.push_back(loss);  // BAD         the check that the file's folder is named after

Each front end analyses all sources below the roots by a compile_commands.json
written to the work folder. Its findings must be those that are marked, no more
and no less. A marker may name a check that is not in checks/Checks.def yet: then
nothing is expected, but a more general check may speak on that line.

With --fix NAME, the fixes of that front end are applied to a copy of each root that
holds markers, after which it must find nothing and the sources must still parse.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SOURCE_ROOT = Path(__file__).resolve().parents[2]
# Other marks, behind a comma, are for torch-confirm: docs/scenarios.md.
MARKER = re.compile(r"// BAD(?:,[A-Z]+)*(?:: *(?P<checks>[\w, -]+?))?\s*$")
DIAGNOSTIC = re.compile(
    r"^(?P<path>/[^:\n]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<kind>warning|error|fatal error): (?P<text>.*?)(?: \[(?P<checks>[\w.,-]+)\])?$",
    re.M)
TIMEOUT_SECONDS = 1200
Place = tuple[Path, int]


def known_checks() -> dict[str, int]:
    """The names in the registry, also of the checks that are off by default, and their
    levels."""
    text = (SOURCE_ROOT / "checks" / "Checks.def").read_text()
    rows = re.findall(r'^CHECK\("([\w-]+)", \w+, (\d)', text, re.M)
    return {name: int(level) for name, level in rows}


def is_situational(check: str, place: Place, known: dict[str, int]) -> bool:
    """What is off by default may be said of programs that are about something else."""
    return known.get(check) == 2 and place[0].parent.name != check


def sources(root: Path, suffixes: set[str]) -> list[Path]:
    # What is below a folder "made" was made of the others.
    return sorted(p for p in root.rglob("*") if p.suffix in suffixes and p.is_file()
                  and p.parent.name != "made")


def markers(root: Path) -> dict[Place, set[str]]:
    """{(path, line): {check}} of all marked lines below the root."""
    result = {}
    for path in sources(root, {".cpp", ".h"}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = MARKER.search(line)
            if match:
                names = match["checks"] or path.parent.name
                result[(path, number)] = set(re.split(r"[, ]+", names))
            elif "// BAD" in line:
                sys.exit(f"{path}:{number}: error: cannot read this marker")
    return result


def write_compilation_database(folder: Path, roots: list[Path], flags: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for root in roots:
        for path in sources(root, {".cpp"}):
            include = ["-I", str(SOURCE_ROOT / "test" / "scenarios" / "support")]
            entries.append({
                "directory": str(folder), "file": str(path),
                "arguments": ["clang++", *flags, *include, "-c", str(path)]})
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))


def analyse(command: list[str], database: Path, files: list[Path],
            options: Sequence[str] = ()) -> tuple[dict[Place, list[str]], list[str]]:
    """(findings as {(path, line): [check]}, problems) of one run over the files."""
    words = [*command, "-p", str(database), *options, *map(str, files)]
    run = subprocess.run(words, capture_output=True, text=True,
                         timeout=TIMEOUT_SECONDS)
    findings: dict[Place, list[str]] = {}
    problems, seen, spots = [], set(), set()
    for match in DIAGNOSTIC.finditer(run.stdout):
        # A header is analysed with each file that includes it.
        if match[0] in seen:
            continue
        seen.add(match[0])
        names = [c for c in (match["checks"] or "").split(",") if c.startswith("torch-")]
        if "error" in match["kind"] or not names:
            problems.append(match[0])
            continue
        place = Path(match["path"]).resolve(), int(match["line"])
        # Two things on a line are two findings, one thing is one.
        for name in names:
            spot = *place, match["column"], name
            if spot in spots:
                problems.append(f"{place[0]}:{place[1]}: {name} is found twice")
            spots.add(spot)
        findings.setdefault(place, []).extend(names)
    if run.returncode != 0:
        problems.append(f"exit code {run.returncode}: {shlex.join(words)}\n"
                        f"{run.stdout[-2000:]}{run.stderr[-4000:]}")
    return findings, problems


def awaits_its_check(marked: set[str] | None, known: dict[str, int]) -> bool:
    """Whether a line is marked for checks only that are not there yet."""
    return not marked & known.keys() if marked else False


def compare(expected: dict[Place, set[str]], findings: dict[Place, list[str]],
            known: dict[str, int]) -> Iterator[str]:
    """Lines that say where the findings are not those that are marked."""
    for place, checks in sorted(findings.items()):
        marked = expected.get(place, set())
        for check in checks:
            if (check in marked or awaits_its_check(marked, known)
                    or is_situational(check, place, known)):
                continue
            yield f"{place[0]}:{place[1]}: {check} is found and not marked"
    for place, wanted in sorted(expected.items()):
        for check in sorted(wanted & known.keys()):
            if check not in findings.get(place, []):
                yield f"{place[0]}:{place[1]}: {check} is marked and not found"


def copies(roots: list[Path], folder: Path) -> list[Path]:
    """A copy of each root, to be fixed."""
    shutil.rmtree(folder, ignore_errors=True)
    result = []
    for root in roots:
        target = folder / root.name
        shutil.copytree(root, target)
        result.append(target)
    return result


def try_fixes(name: str, command: list[str], arguments: argparse.Namespace, roots: list[Path],
              known: dict[str, int]) -> Iterator[str]:
    """Lines that say what is left after the fixes of one front end."""
    folder = arguments.work / f"fixed-by-{name}"
    fixed = copies(roots, folder)
    write_compilation_database(folder, fixed, shlex.split(arguments.flags))
    files = [p for root in fixed for p in sources(root, {".cpp"})]
    # One file at a time: a header that two files include is fixed once.
    for file in files:
        _, problems = analyse(command, folder, [file], ["--fix"])
        yield from problems
    findings, problems = analyse(command, folder, files)
    yield from problems
    expected = {k: v for root in fixed for k, v in markers(root).items()}
    for place, checks in sorted(findings.items()):
        checks = [c for c in checks if not is_situational(c, place, known)]
        if checks and not awaits_its_check(expected.get(place), known):
            yield f"{place[0]}:{place[1]}: {', '.join(checks)} after the fixes"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--front", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--flags", default="", help="for the compiler, as one word")
    parser.add_argument("--fix", metavar="NAME")
    parser.add_argument("roots", nargs="+", type=Path, metavar="ROOT")
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    roots = [root.resolve() for root in arguments.roots]

    known = known_checks()
    expected = {}
    for root in roots:
        expected.update(markers(root))
    if not any(checks & known.keys() for checks in expected.values()):
        sys.exit("error: nothing is marked")
    write_compilation_database(arguments.work, roots, shlex.split(arguments.flags))
    files = [p for root in roots for p in sources(root, {".cpp"})]

    # What costs little is found as well.
    minor = json.dumps({"CheckOptions": {f"{check}.Minor": "true" for check in sorted(known)}})
    failed = False
    for front in arguments.front:
        name, _, command = front.partition("=")
        # By name: the plugin's torch-* would mean the checks of all levels. And
        # clang-tidy takes the header filter from the .clang-tidy of the current
        # folder, not from that of the file.
        command = [*shlex.split(command), "--header-filter=.*",
                   "--checks=-*," + ",".join(sorted(known)), "--config=" + minor]
        findings, problems = analyse(command, arguments.work, files)
        problems += compare(expected, findings, known)
        if arguments.fix == name:
            marked = [root for root in roots if markers(root)]
            problems += try_fixes(name, command, arguments, marked, known)
        for problem in problems:
            print(f"{name}: {problem}")
        failed = failed or bool(problems)
        for check in sorted(set().union(*expected.values())):
            marked = [p for p, checks in expected.items() if check in checks]
            found = [p for p in marked if check in findings.get(p, [])]
            note = "" if check in known else ", not a check yet"
            print(f"{name}: {check}: {len(found)} of {len(marked)} marked{note}")
        print(f"{name}: {len(files)} files, {len(problems)} problems")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
