"""Reads checks/Checks.def, the registry of the checks, for the project's scripts."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path("checks/Checks.def")
# The same as in checks/CMakeLists.txt.
ROW = re.compile(r'^CHECK\("([a-z0-9-]+)", ([A-Za-z0-9]+), ([0-2]), ([a-z]+), '
                 r'([0-9]+), "([a-z-]+)"\)$')


@dataclass(frozen=True)
class Check:
    name: str
    cls: str
    level: int
    folder: str
    priority: int
    evidence: str

    def row(self):
        return (f'CHECK("{self.name}", {self.cls}, {self.level}, {self.folder}, '
                f'{self.priority}, "{self.evidence}")')

    def order(self):
        return self.level, self.name

    def source(self, suffix):
        return Path("checks") / self.folder / (self.cls + suffix)

    def page(self):
        return Path("docs/checks") / (self.name + ".md")

    def tests(self):
        return Path("test/checks") / self.name

    def scenario(self):
        return Path("test/scenarios") / self.name


def read(root=ROOT):
    checks = []
    for number, line in enumerate((root / FILE).read_text().splitlines(), 1):
        if not line.startswith("CHECK("):
            continue
        match = ROW.match(line)
        if not match:
            raise ValueError(f"{FILE}:{number}: cannot read this row: {line}")
        name, cls, level, folder, priority, evidence = match.groups()
        checks.append(Check(name, cls, int(level), folder, int(priority), evidence))
    return checks
