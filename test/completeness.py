#!/usr/bin/env python3
"""Checks that the project is whole: every row of checks/Checks.def has its sources,
page, tests and scenario pair, and nothing exists without a row. Every kind of finding and
role of a note in checks/FindingKinds.def is used, each kind by its own check, and
torch-confirm judges by them, not by the words of a message.

Prints a line for each thing tested; ends with 1 when one failed.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tool"))
sys.dont_write_bytecode = True
import registry  # noqa: E402

UNFINISHED = "FIXME(new-check)"
SECTIONS = ["Why", "Example", "When it is quiet", "How to silence it", "Options",
            "Known limits", "Evidence"]


def missing_parts(check: registry.Check) -> Iterator[str]:
    for path in [check.query(".h"), check.query(".cpp"), check.source(".h"),
                 check.source(".cpp"), check.page(), check.scenario() / "wrong.cpp",
                 check.scenario() / "fixed.cpp",
                 check.scenario() / "made/findings.json"]:
        if not (ROOT / path).is_file():
            yield f"{path} is missing"
    tests = sorted((ROOT / check.tests()).glob("*.cpp"))
    if not tests:
        yield f"{check.tests()} holds no test"
    texts = "".join(test.read_text() for test in tests)
    if tests and not re.search(r"CHECK-(MESSAGES|NOTES)", texts):
        yield f"no test in {check.tests()} expects a finding"


def unfinished_parts(check: registry.Check) -> Iterator[str]:
    if check.evidence == "fixme":
        yield f"{registry.FILE}: choose the evidence of {check.name}"
    for kind in registry.read_kinds(ROOT)[0]:
        if kind.check == check.name and UNFINISHED in kind.means:
            yield f"{registry.KINDS}: the kind {kind.id} still says {UNFINISHED}"
    places = [check.query(".h"), check.query(".cpp"), check.unit_test(),
              check.source(".h"), check.source(".cpp"), check.page()]
    for folder in [check.tests(), check.scenario()]:
        if (ROOT / folder).is_dir():
            places += sorted(p.relative_to(ROOT) for p in (ROOT / folder).rglob("*"))
    for path in places:
        if (ROOT / path).is_file() and UNFINISHED in (ROOT / path).read_text():
            yield f"{path} still says {UNFINISHED}"


def page_sections(check: registry.Check) -> Iterator[str]:
    path = ROOT / check.page()
    if path.is_file():
        lines = path.read_text().splitlines()
        if lines[:1] != [f"# {check.name}"]:
            yield f"{check.page()} does not begin with '# {check.name}'"
        for section in SECTIONS:
            if f"## {section}" not in lines:
                yield f"{check.page()} has no section '{section}'"


def marked_scenarios(check: registry.Check) -> Iterator[str]:
    """The harness and the tests find the mistake of a scenario by its mark."""
    for name, expected in [("wrong.cpp", True), ("fixed.cpp", False)]:
        path = ROOT / check.scenario() / name
        if path.is_file() and ("// BAD" in path.read_text()) != expected:
            yield (f"{check.scenario() / name} "
                   f"{'lacks' if expected else 'has'} a line marked // BAD")
    path = ROOT / check.scenario() / "wrong.cpp"
    states = r"^// MEASURE .*( (factor|more|at)=| differs| sanitizer-reports| wrong=.* fixed=)"
    if path.is_file() and not re.search(states, path.read_text(), re.M):
        yield f"{path.relative_to(ROOT)} does not state what tells it from fixed.cpp"


def order(checks: list[registry.Check]) -> Iterator[str]:
    if [c.order() for c in checks] != sorted(c.order() for c in checks):
        yield f"{registry.FILE}: sort the rows by level, then by name"
    for what, names in [("name", [c.name for c in checks]),
                        ("class", [c.cls for c in checks])]:
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{registry.FILE}: two rows have the {what} {name}"


def sources_below(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in [".h", ".cpp"] and path.name != "FindingKinds.h"]


def uses(path: Path, enum: str) -> set[str]:
    return set(re.findall(rf"\b{enum}::(\w+)", path.read_text()))


def kind_rows(checks: list[registry.Check], kinds: list[registry.Kind],
              roles: list[registry.Role]) -> Iterator[str]:
    names = [check.name for check in checks]
    for kind in kinds:
        if kind.check not in names:
            yield f"{registry.KINDS}: {kind.check} is no check"
    for name in names:
        if not any(kind.check == name for kind in kinds):
            yield f"{registry.KINDS} has no row for {name}"
    order = [names.index(kind.check) for kind in kinds if kind.check in names]
    if order != sorted(order):
        yield f"{registry.KINDS}: sort the rows as {registry.FILE} sorts the checks"
    for what, words in [("enumerator", [row.id for row in kinds]),
                        ("name", [f"{row.check} {row.name}" for row in kinds]),
                        ("role", [row.id for row in roles] + [row.name for row in roles])]:
        for word in sorted({word for word in words if words.count(word) > 1}):
            yield f"{registry.KINDS}: two rows have the {what} {word}"


def emitted_kinds(checks: list[registry.Check],
                  kinds: list[registry.Kind]) -> Iterator[str]:
    """A check reports its own kinds and no others; where it has several, all of them."""
    owner = {kind.id: kind.check for kind in kinds}
    met: dict[str, list[Path]] = {}
    for path in sources_below("checks"):
        for used in uses(path, "FindingKind"):
            met.setdefault(used, []).append(path.relative_to(ROOT))
    for check in checks:
        own = {check.source(".h"), check.source(".cpp")}
        rows = [kind.id for kind in kinds if kind.check == check.name]
        for row in rows:
            if len(rows) > 1 and not own & set(met.get(row, [])):
                yield f"{check.source('.cpp')} never reports {row}, a row of {registry.KINDS}"
        for used, paths in sorted(met.items()):
            for path in sorted(own & set(paths)):
                if owner.get(used) != check.name:
                    yield f"{path} reports {used}, which is no kind of {check.name}"


def judged_kinds(kinds: list[registry.Kind],
                 roles: list[registry.Role]) -> Iterator[str]:
    """What torch-confirm's rules name is what checks report."""
    for enum, known in [("FindingKind", {kind.id for kind in kinds}),
                        ("NoteRole", {role.id for role in roles})]:
        for path in sources_below("tool/torch-confirm"):
            for used in sorted(uses(path, enum) - known):
                yield f"{path.relative_to(ROOT)} names {enum}::{used}: no check reports it"


def used_roles(roles: list[registry.Role]) -> Iterator[str]:
    met: set[str] = set()
    met = met.union(*(uses(path, "NoteRole") for path in sources_below("checks")))
    for role in roles:
        if role.id not in met:
            yield f"{registry.KINDS}: no note has the role {role.id}"


# A message that is looked into or compared. (Of exceptions and statements the field has
# another name.)
LOOKS_AT_WORDS = [
    re.compile(r"\.Message\s*\.\s*(?!c_str\b|size\b|empty\b)\w+\s*\("),
    re.compile(r"\.Message\s*[=!<>]=|[=!]=\s*[\w.\[\]()>-]*\.Message\b"),
    re.compile(r"\b\w*(has|contains|[wW]ith|match|search|find|compare|strstr)\w*\s*"
               r"\(\s*[\w.\[\]()>-]*\.Message\b")]
# Where verdicts are made, nothing reads the message of a finding or of a note.
READS_WORDS = re.compile(r"\b(Finding|Note|F|N)s?(\.\w+\(\)|\[\w+\])*\.Message\b")
VERDICTS = ["tool/torch-confirm/rules", "tool/torch-confirm/findings/Complete.cpp"]


def judged_words() -> Iterator[str]:
    for path in sources_below("tool/torch-confirm"):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("tool/torch-confirm/probe/"):
            # It counts exceptions, and knows of no findings.
            continue
        patterns = LOOKS_AT_WORDS + [READS_WORDS] * name.startswith(tuple(VERDICTS))
        text = path.read_text()
        for found in (match for pattern in patterns for match in pattern.finditer(text)):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line} looks at the words of a message: {found.group()}"


def strays(checks: list[registry.Check]) -> Iterator[str]:
    """Pages, tests, scenarios and sources that no row names."""
    names = {check.name for check in checks}
    for path in sorted((ROOT / "docs/checks").glob("*.md")):
        if path.name != "README.md" and path.stem not in names:
            yield f"{path.relative_to(ROOT)} is the page of no check"
    for parent in ["test/checks", "test/scenarios"]:
        for path in sorted((ROOT / parent).glob("torch-*")):
            if path.name not in names:
                yield f"{path.relative_to(ROOT)} is the folder of no check"
    sources = {source(suffix) for check in checks for suffix in [".h", ".cpp"]
               for source in [check.source, check.query]}
    families = {check.folder for check in checks}
    for path in sources_below("checks"):
        name = path.relative_to(ROOT)
        if ((name.parts[1] in families or name.stem.endswith("Check"))
                and len(name.parts) == 3 and name not in sources):
            yield f"{name} is the source of no check"


def sample() -> Iterator[str]:
    path = ROOT / "test/sample.txt"
    lines = [line for line in path.read_text().splitlines()
             if line and not line.startswith("#")]
    if not lines:
        yield "test/sample.txt names no test"
    for line in lines:
        if not (ROOT / "test" / line).is_file():
            yield f"test/sample.txt: {line} does not exist"


def tests_without_commands() -> Iterator[str]:
    """A source in a folder that lit goes through is a test: lit fails on one without RUN."""
    excludes = re.search(r"config\.excludes = (\[[^]]*\])", (ROOT / "test/lit.cfg.py").read_text())
    assert excludes, "test/lit.cfg.py says which folders hold no tests"
    skipped = set(ast.literal_eval(excludes[1]))
    for path in sorted((ROOT / "test").rglob("*")):
        name = path.relative_to(ROOT)
        if (path.suffix in [".cpp", ".test"] and not skipped & set(name.parts)
                and "RUN:" not in path.read_text()):
            yield f"{name} has no RUN line: write one, or name its folder in config.excludes"


# A name that is asked for in code: compared, looked up, or taken apart. What
# stands between quotes and is no identifier ("->", "/include/") is no name.
NAME = r'"[A-Za-z_]\w*(?:::\w+)*(?:::)?"'
ASKS_FOR_A_NAME = [re.compile(pattern) for pattern in [
    rf"[=!]=\s*(?:llvm::)?(?:StringRef\()?{NAME}", rf"{NAME}\)?\s*[=!]=",
    rf"\.Cases?\(\s*{NAME}", rf"\.(?:StartsWith|EndsWith)\(\s*{NAME}",
    rf"(?:starts_with|ends_with|contains|consume_front|consume_back|equals)\(\s*{NAME}",
    rf"StringSet<>\s+\w+\s*=?\s*\{{\s*{NAME}", rf"is_contained\(\s*\{{\s*{NAME}",
    rf"(?:isOneOf|isNamed|hasName|findOperation)\([^()]*{NAME}"]]
# Sources that ask for names of something else than LibTorch and std, or write
# code rather than read it.
NAMES_OF_OTHERS = {
    "checks/TorchCheck.cpp": "the values of options",
    "checks/flow/Tests.cpp": "test frameworks, known to no other file",
    "checks/report/EditCalls.cpp": "fix-its: the text that they replace",
    "checks/report/Report.cpp": "the kind of an array in a message",
}


def names_outside_torch() -> Iterator[str]:
    """What a callee's or a type's name means is said in checks/torch, once."""
    asking: set[str] = set()
    for path in sorted((ROOT / "checks").rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.suffix not in [".h", ".cpp"] or name.startswith("checks/torch/"):
            continue
        text = re.sub(r"//.*", "", path.read_text())
        for pattern in ASKS_FOR_A_NAME:
            for match in pattern.finditer(text):
                asking.add(name)
                if name not in NAMES_OF_OTHERS:
                    line = text.count("\n", 0, match.start()) + 1
                    yield (f"{name}:{line}: {' '.join(match.group().split())}: "
                           "ask a function of checks/torch for the meaning of a name")
    for name in sorted(set(NAMES_OF_OTHERS) - asking):
        yield f"test/completeness.py: {name} is no longer an exception"


# Headers of checks/ that architecture.md need not name, each with the reason.
UNTOLD = {
    "checks/ast/Precompiled.h": "what is compiled once for all sources, and has no meaning",
}
ARCHITECTURE = "docs/architecture.md"


def untold_headers(checks: list[registry.Check]) -> Iterator[str]:
    """A newcomer finds each room, and what is in it, by that page."""
    text = re.sub(r"^```.*?^```", "", (ROOT / ARCHITECTURE).read_text(), flags=re.M | re.S)
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    rows = {str(check.source(".h")) for check in checks}
    for path in sources_below("checks"):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix != ".h" or name in rows:
            continue
        if name in UNTOLD:
            if path.stem in words:
                yield f"{ARCHITECTURE} names {name}: take it out of UNTOLD"
        # A domain is told by its folder.
        elif path.stem not in words and path.stem not in {"Lattice", "Transfer"}:
            yield f"{ARCHITECTURE} does not name {name}"
    for name in UNTOLD:
        if not (ROOT / name).is_file():
            yield f"UNTOLD names {name}, which is not there"


EVENT = re.compile(r"^struct (\w+Event) : EventOf<.*?\{\n(.*?)^\};", re.M | re.S)


def fields(body: str) -> Iterator[str]:
    """The names of the data members in the body of a class."""
    for line in re.sub(r"//.*", "", body).splitlines():
        line = line.strip()
        if line.endswith(";") and "(" not in line and not line.startswith("using "):
            for part in re.sub(r"\s*=[^,;]+", "", line[:-1]).split(","):
                yield re.findall(r"\w+", part)[-1]


def untold_events() -> Iterator[str]:
    """Each class of state/Event.h has a row with its fields."""
    text = (ROOT / ARCHITECTURE).read_text()
    rows = {name: row for row in text.splitlines() if row.startswith("| ")
            for name in re.findall(r"\w+Event", row.split("|")[1])}
    header = (ROOT / "checks/model/state/Event.h").read_text()
    for name, body in EVENT.findall(header):
        if name not in rows:
            yield f"{ARCHITECTURE} has no row for {name}"
            continue
        for field in fields(body):
            if field not in rows[name]:
                yield f"{ARCHITECTURE} does not name {field} of {name}"


BESIDE_TESTS = "executionsThatCost()"


def costs_of_tests(checks: list[registry.Check]) -> Iterator[str]:
    """Nobody minds what a test costs: what is no defect is not said of one."""
    for check in checks:
        text = (ROOT / check.query(".cpp")).read_text()
        if check.level > 0 and BESIDE_TESTS not in text and ".executions()" in text:
            yield f"{check.query('.cpp')}: level {check.level}, and does not go by {BESIDE_TESTS}"


def untested_domains() -> Iterator[str]:
    """Each domain of the model has unit tests of its own, which no other room has to run."""
    for folder in sorted((ROOT / "checks/model/domains").iterdir()):
        tests = ROOT / "test/unit/model/domains" / folder.name
        if folder.is_dir() and not any(tests.glob("*Test.cpp")):
            yield f"{folder.relative_to(ROOT)} has no test in {tests.relative_to(ROOT)}"


def stale_index() -> Iterator[str]:
    result = subprocess.run([sys.executable, str(ROOT / "tool/docs-index"), "--check"],
                            stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        yield result.stderr.strip()


KEYWORDS = {"main", "if", "for", "while", "switch", "catch", "operator"}


def vacuous_tests(checks: list[registry.Check]) -> Iterator[str]:
    """Beside a main(), levels 1 and 2 say nothing of what no line names: a test whose
    functions nobody names can't fail. Those that are so on purpose are listed behind UNNAMED."""
    function = r"^(?:[\w:<>,&*~ ]+[ &*])?(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?(?:override\s*)?\{"
    for check in checks:
        for path in sorted((ROOT / check.tests()).glob("*.cpp")) if check.level else []:
            text = path.read_text()
            meant = set(re.findall(r"\w+", " ".join(re.findall(r"// UNNAMED: (.*)", text))))
            code = re.sub(r"//[^\n]*", "", text)
            if not re.search(r"\bint main\s*\(", code):
                continue
            names = set(re.findall(function, code, re.M))
            names |= set(re.findall(r"^(?:struct|class) (\w+)", code, re.M))
            for name in sorted(names - KEYWORDS - meant):
                if len(re.findall(rf"\b{name}\b", code)) == 1:
                    yield f"{path.relative_to(ROOT)}: nobody names {name}"


RULES = Path("tool/torch-confirm/rules")
CONFIRM_PAGE = Path("docs/torch-confirm.md")


def table_below(text: str, head: str) -> list[list[str]]:
    """The cells of its rows; none where there is no such table."""
    lines = iter(text.partition(head + "\n")[2].splitlines()[1:])
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def rules_without_reasons() -> Iterator[str]:
    """What each rule of torch-confirm observes, why that is the mistake and what else it could
    be is told, of those of value and parameters by check."""
    text = (ROOT / CONFIRM_PAGE).read_text()
    head = ("| rule | what it observes | why that is the mistake | what else would look so |")
    rows = {row[0].strip("`"): row for row in table_below(text, head)}
    if not rows:
        yield f"{CONFIRM_PAGE} has no table that begins '{head}'"
    signs = {check for row in table_below(text, "| check | CONFIRMED | REFUTED |")
             for check in re.findall(r"torch-[\w-]+", row[0])}
    sources = "".join(path.read_text() for path in sorted((ROOT / RULES).glob("*.cpp")))
    rules = set(re.findall(r'evidence\(\) const override \{\s*return "([\w-]+)"', sources))
    evidence = {check.evidence for check in registry.read(ROOT)}
    if not signs or rules != evidence:
        yield (f"{RULES} has the rules {sorted(rules)}, checks have the evidence "
               f"{sorted(evidence)}, {CONFIRM_PAGE} has the signs {sorted(signs)}")
    for name in sorted(rules | signs):
        if name not in rows:
            yield f"{CONFIRM_PAGE} does not say what else could look like that of {name}"
        elif len(rows[name]) != 4 or not all(rows[name]):
            yield f"{CONFIRM_PAGE}: the row of {name} needs four cells that say something"
    for name in sorted(rows.keys() - rules - signs):
        yield f"{CONFIRM_PAGE}: no rule is named {name}"


def main() -> int:
    checks = registry.read(ROOT)
    kinds, roles = registry.read_kinds(ROOT)
    tests: list[tuple[str, Iterator[str]]]
    tests = [("order of the rows", order(checks)), ("nothing without a row", strays(checks)),
             ("kinds: rows", kind_rows(checks, kinds, roles)),
             ("kinds: each check reports its own", emitted_kinds(checks, kinds)),
             ("kinds: rules name those that are reported", judged_kinds(kinds, roles)),
             ("kinds: roles of notes", used_roles(roles)),
             ("kinds: no verdict by words", judged_words()),
             ("lit: every test has a command", tests_without_commands()),
             ("lit: main() names what is tested", vacuous_tests(checks)),
             ("sample of lit tests", sample()), ("documentation index", stale_index()),
             ("names of LibTorch in checks/torch", names_outside_torch()),
             ("domains: unit tests", untested_domains()),
             ("architecture.md: headers", untold_headers(checks)),
             ("architecture.md: events", untold_events()),
             ("torch-confirm: each rule says what else it could be", rules_without_reasons()),
             ("levels 1 and 2 go by the code beside tests", costs_of_tests(checks))]
    for check in checks:
        tests += [(f"{check.name}: parts", missing_parts(check)),
                  (f"{check.name}: finished", unfinished_parts(check)),
                  (f"{check.name}: page", page_sections(check)),
                  (f"{check.name}: marks", marked_scenarios(check))]
    failed = 0
    for name, problems in tests:
        found = list(problems)
        print(f"{'FAIL' if found else 'PASS'}: {name}")
        for problem in found:
            print(f"    {problem}")
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
