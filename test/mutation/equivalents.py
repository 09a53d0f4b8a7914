"""Mutants that are no mistakes, each read and with its reason.

A line of equivalent.txt is

    PROGRAM | OPERATOR | TEXT OF THE LINE | REASON

where `:42` in place of the text stands for a line number (code of others is not
repeated here). Lines that begin with # are comments.
"""

from pathlib import Path
from typing import Any


class Known:
    def __init__(self, path: Path) -> None:
        self.path = path
        # Line, program, operator, place, reason.
        self.rows: list[tuple[int, str, str, str, str]] = []
        self.used: set[int] = set()

    def reason(self, mutant: dict[str, Any]) -> str | None:
        """Why the mutant is no mistake, or None."""
        for number, program, operator, place, reason in self.rows:
            if (program == mutant["program"] and operator == mutant["operator"]
                    and place in (mutant["text"], f":{mutant['line']}",
                                  f"{mutant['file']}:{mutant['line']}")):
                self.used.add(number)
                return reason
        return None

    def unused(self, programs: set[str]) -> list[str]:
        """An entry that fits no mutant hides one under another text."""
        return [f"{self.path}:{number}: no mutant of {program} is like this"
                for number, program, *_ in self.rows
                if program in programs and number not in self.used]


def read(path: Path) -> Known:
    known = Known(path)
    if not Path(path).exists():
        raise ValueError(f"{path}: no such file")
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [part.strip() for part in line.split(" | ")]
        if len(fields) != 4 or not all(fields):
            raise ValueError(f"{path}:{number}: expected PROGRAM | OPERATOR | LINE | "
                             "REASON")
        program, operator, place, reason = fields
        known.rows.append((number, program, operator, place, reason))
    return known
