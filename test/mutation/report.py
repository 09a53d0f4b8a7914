"""The tables of a run."""

import difflib
from pathlib import Path
from typing import Any

from programs import Program

OPERATORS = ["zero-grad", "detach", "item", "state-detach", "guard", "allocation",
             "transfer", "factory-device", "accessor", "cat", "input-transfer",
             "metadata", "convert", "non-blocking", "train", "guard-scope", "guard-call",
             "step-order", "generator-detach", "capture"]
# As torch-mutate describes it, and what became of it.
Mutant = dict[str, Any]


def difference(program: Program, changed: Path, files: list[str]) -> str:
    """What the mutant changes, as a unified diff without context."""
    lines = []
    for name in files:
        before = (program.root / name).read_text(errors="replace").splitlines()
        after = (changed / name).read_text(errors="replace").splitlines()
        lines += [line for line in difflib.unified_diff(before, after, name, name,
                                                        lineterm="", n=0)
                  if not line.startswith("---") and not line.startswith("+++")]
    return "\n".join(lines)


class Summary:
    def __init__(self, mutants: list[Mutant], checks: list[str]) -> None:
        self.mutants = [m for m in mutants if m["verdict"] != "not asked for"]
        self.checks = checks
        self.found = self.count(verdict="found")
        self.counted = self.found + self.count(verdict="missed")

    def count(self, **wanted: str) -> int:
        return sum(all(self.value(m, key) == value for key, value in wanted.items())
                   for m in self.mutants)

    @staticmethod
    def value(mutant: Mutant, key: str) -> Any:
        return mutant["checks"][0] if key == "check" else mutant[key]

    def rate(self) -> float:
        return 100 * self.found / self.counted if self.counted else 0

    def rows(self) -> list[tuple[Any, ...]]:
        """(check, operator, made, does not compile, equivalent, spoken before, found,
        missed), with the sum at the end."""
        result = []
        for check in self.checks:
            for operator in OPERATORS:
                if self.count(check=check, operator=operator):
                    result.append((check, operator, *self.counts(
                        check=check, operator=operator)))
        result.append(("all", "", *self.counts()))
        return result

    def counts(self, **wanted: str) -> tuple[int, ...]:
        verdicts = ["does not compile", "spoken before", "equivalent", "found", "missed"]
        return (self.count(**wanted),
                *(self.count(verdict=verdict, **wanted) for verdict in verdicts))

    def by_others(self) -> int:
        return sum(m["verdict"] == "found" and m["checks"][0] not in m["by"]
                   for m in self.mutants)

    def of(self, verdict: str) -> list[Mutant]:
        return [m for m in self.mutants if m["verdict"] == verdict]

    HEAD = ("check", "removed", "mutants", "do not compile", "spoken before",
            "equivalent", "found", "missed")

    def text(self) -> str:
        lines = []
        for verdict in ("does not compile", "spoken before", "equivalent", "missed"):
            for m in self.of(verdict):
                lines.append(f"{verdict}: {m['program']} {m['file']}:{m['line']}: "
                             f"{m['operator']}: {m['text']}")
                if verdict == "does not compile":
                    lines.append("    " + m["error"])
                if verdict == "equivalent":
                    lines.append(f"    {m['outcome']}; {m['reason']}")
                if verdict == "missed":
                    lines.append(f"    expected {' or '.join(m['checks'])}")
                    lines += ["    " + line for line in m["diff"].splitlines()]
                    lines += [f"    elsewhere: {f['file']}:{f['line']}: {f['check']}"
                              for f in m["findings"]]
        if lines:
            lines.append("")
        rows = [self.HEAD, *self.rows()]
        widths = [max(len(str(row[i])) for row in rows) for i in range(len(self.HEAD))]
        for row in rows:
            lines.append("  ".join(
                str(cell).ljust(width) if i < 2 else str(cell).rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
        lines.append(f"found by another check than the first that is expected: "
                     f"{self.by_others()}")
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        lines = ["| " + " | ".join(self.HEAD) + " |",
                 "|---|---|" + "--:|" * (len(self.HEAD) - 2)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |"
                  for row in self.rows()]
        lines += ["", f"Found by another check than the first that is expected: "
                  f"{self.by_others()}.", ""]
        if self.of("missed"):
            lines += ["| missed in | removed | line |", "|---|---|---|"]
            for m in self.of("missed"):
                # Code of others is named, not repeated.
                own = not m["program"].startswith("healthy/")
                line = f"`{m['text']}`".replace("|", "\\|") if own else ""
                lines.append(f"| {m['program']} {m['file']}:{m['line']} | "
                             f"{m['operator']} | {line} |")
            lines.append("")
        return "\n".join(lines)
