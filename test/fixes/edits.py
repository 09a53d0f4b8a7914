"""Applies the edits of findings, and tells where a place is afterwards."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

# The text of each file of a program, by its path in the program's folder.
Texts = dict[str, str]


@dataclass(frozen=True, order=True)
class Edit:
    """Text in place of what lies between two offsets."""
    file: str
    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Finding:
    check: str
    file: str
    line: int
    offset: int
    message: str
    edits: tuple[Edit, ...]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def offset(text: str, line: int, column: int) -> int:
    """Lines end with a line feed only; columns count code points (docs/torch-tidy.md)."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def read_finding(told: dict[str, Any], texts: Texts, path: Callable[[str], str]) -> Finding:
    """One line of --format=jsonl; `path` makes a file's name that in the program."""
    file = path(told["file"])
    edits = []
    for edit in told.get("edits", []):
        changed = path(edit["file"])
        text = texts[changed]
        edits.append(Edit(changed, offset(text, edit["line"], edit["column"]),
                          offset(text, edit["endLine"], edit["endColumn"]), edit["text"]))
    line = int(told["line"])
    where = offset(texts[file], line, told["column"]) if file in texts else 0
    return Finding(told["check"], file, line, where, told["message"], tuple(sorted(edits)))


def overlaps(a: Edit, b: Edit) -> bool:
    return a.file == b.file and a.begin < b.end and b.begin < a.end


def apply(texts: Texts, edits: Iterable[Edit]) -> Texts:
    """What is inserted at one place stands there in the order in which it was told."""
    changed = dict(texts)
    in_order = sorted(dict.fromkeys(edits), key=lambda e: (e.file, e.begin, e.end))
    for edit in reversed(in_order):
        text = changed[edit.file]
        changed[edit.file] = text[:edit.begin] + edit.text + text[edit.end:]
    return changed


def compatible(findings: Iterable[Finding]) -> list[Edit]:
    """The edits of all findings, without those of a finding that overlap one before it."""
    chosen: list[Edit] = []
    for finding in findings:
        if not any(overlaps(a, b) and a != b for a in finding.edits for b in chosen):
            chosen += [edit for edit in finding.edits if edit not in chosen]
    return chosen


def moved_line(finding: Finding, before: Texts, after: Texts, edits: Iterable[Edit]) -> int:
    """The line of a finding after the edits: what is inserted before it, and at it, moves
    it. In text that is gone, the line where that was."""
    if finding.file not in before:
        return finding.line
    at = finding.offset
    for edit in edits:
        if edit.file != finding.file or edit.begin > finding.offset:
            continue
        if edit.end <= finding.offset:
            at += len(edit.text) - (edit.end - edit.begin)
        else:
            at -= finding.offset - edit.begin
    return line_of(after[finding.file], max(0, min(at, len(after[finding.file]))))


@dataclass
class Change:
    """What the findings of a changed program are beside those before."""
    remaining: list[Finding]  # of those whose fixes were applied
    new: list[Finding]


def compare(before: list[Finding], fixed: list[Finding], after: list[Finding],
            where: Callable[[Finding], int]) -> Change:
    """`where` tells on which line a finding of `before` now lies."""
    others = Counter((f.check, f.file, where(f)) for f in before if f not in fixed)
    meant = {(f.check, f.file, where(f)): f for f in fixed}
    change = Change([], [])
    for found in after:
        key = (found.check, found.file, found.line)
        if others[key] > 0:
            others[key] -= 1
        elif key in meant:
            change.remaining.append(meant[key])
        else:
            change.new.append(found)
    return change


# Comments: those that stand behind code, and NOLINTNEXTLINE.

TOKEN = re.compile(r"\w+|[^\w\s]")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])*\'|//.*|/\*.*?\*/')


def split_comment(line: str) -> tuple[str, str]:
    """The code of a line, and the comment that ends it."""
    for match in LITERAL.finditer(line):
        if match[0].startswith("//"):
            return line[:match.start()].strip(), match[0].strip()
    return line.strip(), ""


def commented(text: str) -> list[tuple[str, str]]:
    """Each comment behind code with that code, and each NOLINTNEXTLINE with the next
    line's."""
    found = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code, comment = split_comment(line)
        if comment and code:
            found.append((comment, code))
        elif "NOLINTNEXTLINE" in comment and number + 1 < len(lines):
            found.append((comment, split_comment(lines[number + 1])[0]))
    return found


def alike(before: str, after: str) -> bool:
    """Whether a line is the same but for what a fix changes: it has half of what was on it,
    or most of its words were."""
    tokens, there = Counter(TOKEN.findall(before)), Counter(TOKEN.findall(after))
    if 2 * (tokens & there).total() >= tokens.total():
        return True
    words = Counter(re.findall(r"\w+", after))
    return 2 * (tokens & words).total() > words.total()


def taken_out(before: str, after: str) -> set[str]:
    """Code of lines that are gone, and nothing stands in their place."""
    old = before.split("\n")
    matcher = difflib.SequenceMatcher(None, old, after.split("\n"), autojunk=False)
    gone: set[str] = set()
    for kind, begin, end, _, _ in matcher.get_opcodes():
        if kind == "delete":
            gone.update(split_comment(line)[0] for line in old[begin:end])
    return gone - {split_comment(line)[0] for line in after.split("\n")}


def strayed_comments(before: str, after: str) -> list[str]:
    """What became of the comments that are no longer with their statement. Those of a
    statement that was taken out go with it."""
    left = commented(after)
    gone = taken_out(before, after)
    strayed = []
    for comment, code in commented(before):
        same = [pair for pair in left if pair[0] == comment]
        near = [pair for pair in same if alike(code, pair[1])]
        if near:
            left.remove(near[0])
        elif same:
            strayed.append(f"'{comment}' was with '{code}', and is with '{same[0][1]}'")
        elif code not in gone:
            strayed.append(f"'{comment}' of '{code}' is gone")
    return strayed


def mark(text: str, lines: set[int]) -> str:
    """NOLINT comments, of other checks, at and before each of these lines."""
    marked = []
    continues = False
    for number, line in enumerate(text.split("\n"), 1):
        code, comment = split_comment(line)
        if number in lines and code and not continues and not line.endswith("\\"):
            indent = line[:len(line) - len(line.lstrip())]
            marked.append(f"{indent}// NOLINTNEXTLINE(bugprone-next): before {number}")
            if not comment:
                line = f"{line.rstrip()} // NOLINT(bugprone-here): behind {number}"
        continues = line.endswith("\\")
        marked.append(line)
    return "\n".join(marked)
