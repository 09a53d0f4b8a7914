"""Which programs are mutated."""

import argparse
import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = {".h", ".hpp", ".hh", ".cuh", ".inc", ".cpp", ".cc", ".cxx"}
# Deeper folders and more files than a program of its own has.
MANY_FILES = 400


@dataclass
class Program:
    """One source and the folder whose files are its own."""
    name: str
    source: Path
    root: Path
    includes: list[Path] = field(default_factory=list)

    def include_flags(self, folder: Path) -> Iterator[str]:
        """-I for a copy of the program in this folder."""
        for include in self.includes:
            if include.is_relative_to(self.root):
                include = folder / include.relative_to(self.root)
            yield f"-I{include}"

    def files(self, with_sources: bool = False) -> list[Path]:
        """The files that an #include "..." can reach: headers below the root, and
        where asked for the other sources."""
        found = [path for path in sorted(self.root.rglob("*"))
                 if path.suffix in SUFFIXES and path.is_file()
                 and (with_sources or path.suffix not in {".cpp", ".cc", ".cxx"}
                      or path == self.source)]
        if len(found) > MANY_FILES:
            raise RuntimeError(f"{len(found)} files below {self.root}; name a folder "
                               "nearer to the program")
        return found


def of_repository(here: Path) -> Iterator[Program]:
    test = here.parent
    for folder in ("charlm", "vision", "server"):
        root = test / "apps" / "example-fixed" / folder
        for source in sorted(root.glob("*.cpp")):
            yield Program(f"example/{folder}/{source.name}", source, root)
    for source in sorted((test / "scenarios").glob("torch-*/fixed.cpp")):
        yield Program(f"scenario/{source.parent.name}", source, source.parent,
                      [test / "scenarios" / "support"])
    for source in sorted((here / "programs").glob("*.cpp")):
        yield Program(f"program/{source.stem}", source, source.parent)


def of_checkouts(here: Path, checkouts: Path) -> Iterator[Program]:
    """The rows of healthy.csv: repository, commit, path, root (folder of the files
    that are the program's own, mutated where it includes them; default: that of the
    source), include (folders for -I, separated by spaces)."""
    with open(here / "healthy.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        checkout = checkouts / row["repository"].replace("/", "+")
        source = checkout / row["path"]
        if not source.is_file():
            raise ValueError(f"{source} is missing; check {row['repository']} out at "
                             f"{row['commit']} as {checkout.name}")
        root = checkout / row["root"] if row["root"] else source.parent
        yield Program(f"healthy/{row['repository']}/{row['path']}", source,
                      Path(os.path.normpath(root)),
                      [checkout / folder for folder in row["include"].split()])


def collect(arguments: argparse.Namespace, here: Path) -> list[Program]:
    if arguments.source:
        chosen = []
        for source in arguments.source:
            if not source.is_file():
                raise ValueError(f"{source}: no such file")
            source = source.absolute()
            chosen.append(Program(source.name, source, source.parent))
    else:
        chosen = list(of_repository(here))
        if arguments.checkouts:
            chosen += of_checkouts(here, arguments.checkouts.absolute())
    if arguments.only:
        chosen = [program for program in chosen if arguments.only in program.name]
    if not chosen:
        raise ValueError("no program has this in its name")
    return chosen
