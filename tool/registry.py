"""Reads checks/Checks.def, the registry of the checks, and checks/FindingKinds.def, what
their findings say, for the project's scripts."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path("checks/Checks.def")
# The same as in checks/CMakeLists.txt.
ROW = re.compile(r'^CHECK\("([a-z0-9-]+)", ([A-Za-z0-9]+), ([0-2]), ([a-z]+), '
                 r'([0-9]+), "([a-z-]+)"\)$')


KINDS = Path("checks/FindingKinds.def")
KIND_ROW = re.compile(r'^KIND\((\w+), "([a-z0-9-]+)", "([a-z-]+)", "([^"]+)"\)$')
ROLE_ROW = re.compile(r'^ROLE\((\w+), "([a-z-]+)", "([^"]+)"\)$')


@dataclass(frozen=True)
class Check:
    name: str
    cls: str
    level: int
    folder: str
    priority: int
    evidence: str

    def row(self) -> str:
        return (f'CHECK("{self.name}", {self.cls}, {self.level}, {self.folder}, '
                f'{self.priority}, "{self.evidence}")')

    def order(self) -> tuple[int, str]:
        return self.level, self.name

    def stem(self) -> str:
        """The name without "Check": of the query beside it, and of its tests."""
        return self.cls.removesuffix("Check")

    def source(self, suffix: str) -> Path:
        return Path("checks") / self.folder / (self.cls + suffix)

    def query(self, suffix: str) -> Path:
        return Path("checks") / self.folder / (self.stem() + suffix)

    def unit_test(self) -> Path:
        return Path("test/unit/queries") / (self.stem() + "Test.cpp")

    def page(self) -> Path:
        return Path("docs/checks") / (self.name + ".md")

    def tests(self) -> Path:
        return Path("test/checks") / self.name

    def scenario(self) -> Path:
        return Path("test/scenarios") / self.name


def read(root: Path = ROOT) -> list[Check]:
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


@dataclass(frozen=True)
class Kind:
    id: str
    check: str
    name: str
    means: str

    def row(self) -> str:
        return f'KIND({self.id}, "{self.check}", "{self.name}", "{self.means}")'


@dataclass(frozen=True)
class Role:
    id: str
    name: str
    means: str


def read_kinds(root: Path = ROOT) -> tuple[list[Kind], list[Role]]:
    """The kinds of findings, and the roles of their notes."""
    kinds: list[Kind] = []
    roles: list[Role] = []
    for number, line in enumerate((root / KINDS).read_text().splitlines(), 1):
        if not line.startswith(("KIND(", "ROLE(")):
            continue
        if match := KIND_ROW.match(line):
            kinds.append(Kind(*match.groups()))
        elif match := ROLE_ROW.match(line):
            roles.append(Role(*match.groups()))
        else:
            raise ValueError(f"{KINDS}:{number}: cannot read this row: {line}")
    return kinds, roles
