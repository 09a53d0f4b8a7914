#!/usr/bin/env python3
"""Checks that the rooms of each part of the project know only those below them: a file
includes nothing of a room that stands later in the list.

    test/layers.py [ROOT [FILE]]     FILE: a JSON object in place of LAYERS

Prints a line for each room; ends with 1 when one failed.
"""

import json
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Of each part the rooms, from the bottom up: folders, or files without their suffix, where
# a star stands for any name. Folders joined by + are one room. Rooms in a list of their own
# stand side by side and know nothing of each other. What is in no room is at the top: a
# file of the part's own folder that includes what it likes.
# Includes are looked up from the part's folder, and from where the including file lies.
Rooms = list[str | list[str]]
LAYERS: dict[str, Rooms] = {
    # Transfers need the machine, which asks them by a table. Queries lie beside their
    # checks and do not know them.
    "checks": [["Checks", "FindingKinds"], "ast", ["flow", "torch"], "model/base",
               "model/domains/*/Lattice", "model/state", "model/icfg",
               "model/machine+model/domains", "model/semantics", "model/interpreter",
               "model/execution", ["report", "model/syntax"], "queries",
               ["autograd", "lifetime", "memory", "modules", "results", "training",
                "transfer"], "Registry", "FindingListener", "EnabledChecks", "TorchCheck",
               "StrictCheck", "*/*Check"],
    "tool/torch-confirm": ["support", "trace", "findings", "recording", "probe", "run",
                           "rules", "report", "profile", ["export", "live"], "cli",
                           ["fix", "scenarios"]],
}
# Rooms that are for those next to them only: from the room that is named up, nobody includes
# them. Queries and checks ask executions, and never how these are made.
HIDDEN: dict[str, tuple[str, list[str]]] = {
    "checks": ("queries", ["model/domains/*/Lattice", "model/machine+model/domains",
                           "model/semantics", "model/interpreter"]),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SUFFIXES = {".h", ".cpp", ".inc", ".def", ".c"}


class Part:
    def __init__(self, root: Path, name: str, layers: Rooms) -> None:
        self.root, self.folder, self.name = root, (root / name).resolve(), name
        self.height: dict[str, int] = {}
        for height, rooms in enumerate(layers):
            for room in [rooms] if isinstance(rooms, str) else rooms:
                self.height[room] = height
        self.places = [(place, room) for room in self.height for place in room.split("+")]

    def sources(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.suffix in SUFFIXES)

    def room(self, path: Path) -> str | None:
        """The room of a file: that which names it, or the longest folder that holds it.
        None at the top."""
        words = path.relative_to(self.folder).as_posix()
        for place, room in self.places:
            if fnmatch(words.rpartition(".")[0], place):
                return room
        held = [(len(place), room) for place, room in self.places
                if words.startswith((place + "/", place + "."))]
        return max(held)[1] if held else None

    def target(self, source: Path, include: str) -> Path | None:
        """The included file, where it belongs to the part; None for files of others."""
        for folder in [self.folder, source.parent]:
            path = (folder / include).resolve()
            if path.is_file():
                return path if path.is_relative_to(self.folder) else None
        return None

    def may_know(self, room: str, other: str | None) -> bool:
        if other is None or room == other:
            return room == other
        first, hidden = HIDDEN.get(self.name, ("", []))
        if other in hidden and self.height[room] >= self.height.get(first, len(self.height)):
            return False
        return self.height[other] < self.height[room]

    def back_arrows(self, room: str) -> Iterator[str]:
        """The includes in a room of what does not stand below it."""
        for source in self.sources():
            if self.room(source) != room:
                continue
            for include in INCLUDE.findall(source.read_text(errors="replace")):
                file = self.target(source, include)
                if file and not self.may_know(room, self.room(file)):
                    yield (f"{source.relative_to(self.root)} includes {include}, which "
                           f"does not lie below {room}")

    def misplaced(self) -> Iterator[str]:
        """Folders that no room names, and rooms without a file."""
        for path in self.sources():
            if self.room(path) is None and path.parent != self.folder:
                yield f"{path.relative_to(self.root)} is in no room"
        for room in self.height:
            if not any(self.room(path) == room for path in self.sources()):
                yield f"{self.name}/{room} holds no source"

    def tests(self) -> Iterator[tuple[str, Iterator[str]]]:
        yield f"layers of {self.name}: every file has a room", self.misplaced()
        for room in self.height:
            yield f"layers of {self.name}: {room} knows what is below it", \
                self.back_arrows(room)


def main(root: Path = ROOT, layers: dict[str, Rooms] | None = None) -> int:
    failed = 0
    for name, order in (layers or LAYERS).items():
        for test, problems in Part(root, name, order).tests():
            found = list(problems)
            print(f"{'FAIL' if found else 'PASS'}: {test}")
            for problem in found:
                print(f"    {problem}")
            failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(Path(words[0]).resolve() if words else ROOT,
                  json.loads(Path(words[1]).read_text()) if words[1:] else None))
