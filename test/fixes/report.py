"""What became of each fix, as JSON and as a table."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

HEAD = ("| check | findings | fixes | compile | end as before | end better | finding gone "
        "| nothing new | once is enough | comments stay |\n|---|" + "--:|" * 9)


@dataclass
class Attempt:
    """A fix alone, or all fixes of a program."""
    program: str
    check: str
    place: str
    message: str = ""
    # What --fix writes, for a reader of the report.
    difference: str = ""
    compiles: bool = False
    before: str = ""
    after: str = ""
    as_before: bool = False
    better: bool = False
    same_output: bool = False
    gone: bool = False
    quiet: bool = False
    idempotent: bool = True
    comments: bool = True
    cures: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def fail(self, why: str) -> None:
        self.failures.append(why)


@dataclass
class Outcome:
    """Of one program."""
    program: str
    findings: dict[str, int] = field(default_factory=dict)
    fixes: list[Attempt] = field(default_factory=list)
    together: Attempt | None = None
    problems: list[str] = field(default_factory=list)

    def attempts(self) -> list[Attempt]:
        return self.fixes + ([self.together] if self.together else [])


def numbers(findings: int, attempts: list[Attempt]) -> str:
    counts: list[int | str] = [findings, len(attempts)]
    ran = [sum(getattr(attempt, name) for attempt in attempts)
           for name in ["compiles", "as_before", "better"]]
    counts += ran if all(attempt.before for attempt in attempts) else ["-", "-", "-"]
    for name in ["gone", "quiet", "idempotent", "comments"]:
        counts.append(sum(getattr(attempt, name) for attempt in attempts))
    return " | ".join(str(count) for count in counts)


def table(outcomes: list[Outcome]) -> str:
    found: dict[str, int] = defaultdict(int)
    by_check: dict[str, list[Attempt]] = defaultdict(list)
    for outcome in outcomes:
        for check, count in outcome.findings.items():
            found[check] += count
        for attempt in outcome.fixes:
            by_check[attempt.check].append(attempt)
    lines = [HEAD]
    for check in sorted(found):
        lines.append(f"| {check} | {numbers(found[check], by_check[check])} |")
    every = [attempt for outcome in outcomes for attempt in outcome.fixes]
    lines.append(f"| each fix alone | {numbers(sum(found.values()), every)} |")
    together = [outcome.together for outcome in outcomes if outcome.together]
    fixed = sum(sum(o.findings.values()) for o in outcomes if o.together)
    lines.append(f"| all of a program | {numbers(fixed, together)} |")
    return "\n".join(lines)


def failures(outcomes: list[Outcome]) -> list[str]:
    return [f"FAILED: {attempt.program} {attempt.place} [{attempt.check}]: {why}"
            for outcome in outcomes for attempt in outcome.attempts()
            for why in attempt.failures]


def as_json(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    return [asdict(outcome) for outcome in outcomes]
