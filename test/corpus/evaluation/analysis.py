"""Runs torch-tidy on one unit at a time, with the flags under which it parses best."""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .checkout import Checkout, is_header
from .progress import Progress
from .toolchain import Toolchain

DIAGNOSTIC = re.compile(r"^(/[^\n]*?):(\d+):(\d+): (warning|error|fatal error): (.*) "
                        r"\[([\w.,*-]+)\]$")
COUNT = re.compile(r"^(?:\d+ warnings? and )?(\d+) errors? generated\.$", re.MULTILINE)
# Where LibTorch's headers are missing this is said in its place.
HIDDEN = re.compile(r"^torch-tidy: note: (\d+) compile errors? (?:is|are) not shown", re.MULTILINE)
MISSING = re.compile(r"'([^'\n]+)' file not found")
# What a precompiled header can break: it declares more than the file asked for.
PCH_ERRORS = re.compile(r"ambiguous|redefinition|redeclar|conflict|different (?:kind|type)|"
                        r"PCH|precompiled|overload", re.IGNORECASE)


@dataclasses.dataclass
class Outcome:
    """What torch-tidy said of a unit in one attempt."""
    failure: str = ""       # it crashed, timed out, or could not run
    parses: str = "clean"   # clean, stubs, partly
    errors: int = 0
    error_lines: list[str] = dataclasses.field(default_factory=list)
    missing_headers: list[str] = dataclasses.field(default_factory=list)
    # [path, line, check, message]
    findings: list[list[Any]] = dataclasses.field(default_factory=list)
    options: str = ""


class Analyser:
    def __init__(self, toolchain: Toolchain, checks: list[str], timeout: int,
                 cache: Path | None) -> None:
        self.toolchain = toolchain
        self.checks = checks
        self.timeout = timeout
        self.cache = cache

    def run(self, units: list[tuple[str, str]], checkouts: dict[str, Checkout], jobs: int,
            progress: Progress) -> dict[tuple[str, str], Outcome]:
        """Outcomes by (repository, unit), however many run at a time."""
        def work(key: tuple[str, str]) -> tuple[tuple[str, str], Outcome]:
            outcome = self.analyse(checkouts[key[0]], key[1])
            progress.step(f"{key[0]}: {key[1]}", outcome.failure or remark(outcome))
            return key, outcome
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            tasks = [pool.submit(work, key) for key in units]
            try:
                return dict(task.result() for task in tasks)
            except BaseException:
                for task in tasks:
                    task.cancel()
                raise

    def analyse(self, checkout: Checkout, unit: str) -> Outcome:
        """The attempt with the fewest errors, the first of equals."""
        best: Outcome | None = None
        for standard, stubs, pch in self._attempts(checkout, unit):
            if pch is None:  # only where the precompiled headers may be to blame
                if best and not any(PCH_ERRORS.search(line) for line in best.error_lines):
                    continue
                pch = False
            outcome = self._attempt(checkout, unit, standard, stubs, pch)
            if best is None or (bool(outcome.failure), outcome.errors) < (
                    bool(best.failure), best.errors):
                best = outcome
            if outcome.failure or outcome.errors == 0:
                break
        assert best, "there is at least one attempt"
        return best

    def _attempts(self, checkout: Checkout, unit: str) -> Iterator[tuple[int, bool, bool | None]]:
        """(language standard, stubs, precompiled headers), the plainest first."""
        pch = checkout.reached(unit).precompiled
        for standard in [17, 20] if checkout.new_standard else [17]:
            yield standard, False, pch
            yield standard, True, pch
        if pch:
            yield 17, True, None

    def _attempt(self, checkout: Checkout, unit: str, standard: int, stubs: bool,
                 pch: bool) -> Outcome:
        command = [str(self.toolchain.torch_tidy), "--config={}", "--use-color=0",
                   "--checks=-*," + ",".join(self.checks),
                   "--header-filter=^" + re.escape(str(checkout.root)) + "/",
                   *([] if pch else ["--no-cache"]), str(checkout.root / unit), "--"]
        if is_header(unit):
            command += ["-x", "c++"]
        command += self.toolchain.flags(standard, stubs, pch) + checkout.include_flags(unit)
        identity = self.toolchain.identity(standard, stubs, pch)
        stored = self._cache_file(checkout, unit, [identity, *command])
        if stored and stored.exists():
            return Outcome(**json.loads(stored.read_text()))
        outcome = self._run(checkout, command)
        outcome.options = f"c++{standard}" + (", stubs" if stubs else "")
        if outcome.errors:
            outcome.parses = "partly"
        elif stubs:
            outcome.parses = "stubs"
        if stored and not outcome.failure:
            stored.parent.mkdir(parents=True, exist_ok=True)
            temporary = stored.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(dataclasses.asdict(outcome)))
            temporary.replace(stored)
        return outcome

    def _run(self, checkout: Checkout, command: list[str]) -> Outcome:
        try:
            run = subprocess.run(command, cwd=checkout.root, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, errors="replace",
                                 timeout=self.timeout, check=False)
        except subprocess.TimeoutExpired:
            return Outcome(failure=f"no result within {self.timeout} s", parses="partly")
        except OSError as error:
            return Outcome(failure=f"torch-tidy cannot be run: {error}", parses="partly")
        outcome = parse(run.stdout, run.stderr, checkout.root)
        if run.returncode < 0:
            outcome.failure = f"torch-tidy ended by signal {-run.returncode}"
        elif "the analysis crashed" in run.stderr:
            outcome.failure = "torch-tidy crashed on it"
        elif run.returncode != 0 and not outcome.errors:
            outcome.failure = f"torch-tidy: exit code {run.returncode}: " + last_line(run.stderr)
        if outcome.failure:
            outcome.parses = "partly"
        return outcome

    def _cache_file(self, checkout: Checkout, unit: str, parts: Iterable[str]) -> Path | None:
        if not self.cache:
            return None
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part.encode() + b"\0")
        for content in checkout.content(unit):
            digest.update(hashlib.sha256(content).digest())
        return self.cache / (digest.hexdigest() + ".json")


def parse(output: str, errors: str, root: Path) -> Outcome:
    """The findings in the checkout and the compile errors in torch-tidy's output."""
    outcome = Outcome()
    prefix = str(root) + "/"
    findings: set[tuple[str, int, str, str]] = set()
    for line in output.splitlines():
        match = DIAGNOSTIC.match(line)
        if not match:
            continue
        path, number, _, severity, message, names = match.groups()
        if severity != "warning":
            outcome.error_lines.append(f"{path}:{number}: {message}".replace(prefix, ""))
            continue
        path = os.path.realpath(path)
        if path.startswith(prefix):
            findings.update((path[len(prefix):], int(number), name, message)
                            for name in names.split(","))
    outcome.findings = [list(finding) for finding in sorted(findings)]
    count = COUNT.search(errors)
    hidden = HIDDEN.search(errors)
    outcome.errors = max(int(count.group(1)) if count else 0,
                         len(outcome.error_lines) + (int(hidden.group(1)) if hidden else 0))
    outcome.missing_headers = sorted(set(MISSING.findall(output)))
    return outcome


def remark(outcome: Outcome) -> str:
    words = [f"{outcome.errors} errors" if outcome.errors else outcome.parses]
    if outcome.findings:
        words.append(f"{len(outcome.findings)} findings")
    return ", ".join(words)


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no output"
