"""Labels: what a check must say and must not say about lines of public code."""

import csv
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REQUIRED = ["repository", "commit", "path", "line", "check", "expected", "parses", "why"]
OPTIONAL = ["by", "waived"]
EXPECTED = ["finding", "clean"]
PARSES = ["clean", "stubs", "partly", ""]


class LabelError(Exception):
    """A label file that cannot be used; the text says where and why."""


@dataclasses.dataclass(frozen=True)
class Label:
    repository: str
    commit: str
    path: str
    line: int
    check: str
    expected: str
    why: str
    by: str = ""
    waived: str = ""

    @property
    def is_verdict(self) -> bool:
        """Judged after the check had spoken, and so no measure of what it misses."""
        return bool(self.by)


def read_labels(paths: Sequence[Path]) -> list[Label]:
    """All labels of these files. A line that a verdict repeats keeps its label."""
    labels = []
    seen: dict[tuple[str, str, int, str], str] = {}
    for path in paths:
        for row, label in _read_file(path):
            key = (label.repository, label.path, label.line, label.check)
            if key in seen:
                raise LabelError(f"{path}:{row}: {label.path}:{label.line} has a label of "
                                 f"{label.check} already, at {seen[key]}")
            seen[key] = f"{path}:{row}"
            labels.append(label)
    if not labels:
        raise LabelError("no labels in " + ", ".join(str(path) for path in paths))
    return labels


def _read_file(path: Path) -> list[tuple[int, Label]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in REQUIRED if name not in (reader.fieldnames or [])]
            if missing:
                raise LabelError(f"{path}:1: no column "
                                 + ", ".join(f"'{name}'" for name in missing)
                                 + "; the first line must name " + ",".join(REQUIRED)
                                 + " and may name " + ",".join(OPTIONAL))
            labels = []
            for record in reader:
                labels.append((reader.line_num, _label(record, f"{path}:{reader.line_num}")))
            return labels
    except OSError as error:
        raise LabelError(f"cannot read '{path}': {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: not a CSV file in UTF-8: {error}") from error


def _label(record: dict[Any, Any], where: str) -> Label:
    if None in record or None in record.values():
        raise LabelError(f"{where}: the row has not as many fields as the first line; "
                         "a field with a comma needs quotes")
    value = {name: (record.get(name) or "").strip() for name in REQUIRED + OPTIONAL}
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", value["repository"]):
        raise LabelError(f"{where}: repository '{value['repository']}' is not owner/name")
    if not value["path"] or value["path"].startswith("/") or ".." in value["path"].split("/"):
        raise LabelError(f"{where}: path '{value['path']}' is not relative to the repository")
    if not value["line"].isdigit() or int(value["line"]) < 1:
        raise LabelError(f"{where}: line '{value['line']}' is not a line number")
    if not value["check"]:
        raise LabelError(f"{where}: no check")
    if value["expected"] not in EXPECTED:
        raise LabelError(f"{where}: expected is '{value['expected']}', not "
                         + " or ".join(f"'{word}'" for word in EXPECTED))
    if value["parses"] not in PARSES:
        raise LabelError(f"{where}: parses is '{value['parses']}', not one of "
                         + ", ".join(f"'{word}'" for word in PARSES[:3]))
    return Label(value["repository"], value["commit"], value["path"], int(value["line"]),
                 value["check"], value["expected"], value["why"], value["by"], value["waived"])
