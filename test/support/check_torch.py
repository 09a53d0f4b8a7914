#!/usr/bin/env python3
"""Runs one check on one file and compares what it says and changes.

    // RUN: %check_torch %s torch-missing-zero-grad %t [options] \
    //          [-- tool arguments [-- compiler arguments]]

The file is copied to %t.cpp with the text of its CHECK comments blanked. Then

  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ...   must match all warnings and errors
  // CHECK-NOTES: :[[@LINE-2]]:5: note: ...         with one such line in the file: must
                                                    match all warnings, errors and notes
  // CHECK-FIXES: ...                               must match the file after --fix

A file with neither messages nor notes must give no warning and no error. Each finding
must be of a kind of its check (checks/FindingKinds.def). After
--fix the check runs on the fixed file: it must parse, must give no warning, and a
second --fix must change nothing.

Options:
  -std=STANDARD     another language standard; implies -no-pch
  -no-pch           parse LibTorch's headers in full
  -frontend=WHICH   driver (the default), plugin, or both: run both, compare them
  -still-warns      warnings may remain after the fix
  -check-prefix=P   P-MESSAGES, P-NOTES and P-FIXES in place of CHECK-...

Environment:
  TORCH_TIDY_TEST_FRONTEND  another default for -frontend
  TORCH_TIDY_TEST_PLUGIN    another plugin
  TORCH_TIDY_TEST_NO_PCH=1  every test parses the headers in full
  TORCH_TIDY_TEST_SAMPLE=0  those of test/sample.txt run with the header only

The driver runs with its cache of precompiled headers, the plugin with the header of the
build folder. The tests that test/sample.txt names run once more with the headers parsed
in full: what is said, fixed and exported must be the same.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

# A full parse takes a quarter of a minute where nothing else runs.
TIMEOUT_SECONDS = 600


sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tool"))
sys.dont_write_bytecode = True
import registry  # noqa: E402


class Failure(Exception):
    pass


def parse_arguments() -> argparse.Namespace:
    words = sys.argv[1:]
    rest = []
    if "--" in words:
        cut = words.index("--")
        words, rest = words[:cut], words[cut + 1:]
    compiler = []
    if "--" in rest:
        cut = rest.index("--")
        rest, compiler = rest[:cut], rest[cut + 1:]

    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--site", required=True)
    parser.add_argument("source", type=Path)
    parser.add_argument("check")
    parser.add_argument("temporary")
    parser.add_argument("-std")
    parser.add_argument("-no-pch", action="store_true", dest="no_pch")
    parser.add_argument("-frontend", choices=["driver", "plugin", "both"],
                        default=os.environ.get("TORCH_TIDY_TEST_FRONTEND", "driver"))
    parser.add_argument("-still-warns", action="store_true", dest="still_warns")
    parser.add_argument("-check-prefix", default="CHECK", dest="prefix")
    arguments = parser.parse_args(words)
    arguments.tool = rest
    arguments.compiler = compiler
    with open(arguments.site) as file:
        arguments.site = json.load(file)
    return arguments


class Run:
    """What one front end said about the file, and what it made of it."""

    def __init__(self, name: str, output: str, fixes: str, fixed: str) -> None:
        self.name = name
        self.output = output
        self.fixes = fixes
        self.fixed = fixed


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.site = arguments.site
        self.text = arguments.source.read_text()
        prefix = arguments.prefix
        self.has_notes = f"{prefix}-NOTES" in self.text
        self.has_messages = self.has_notes or f"{prefix}-MESSAGES" in self.text
        self.has_fixes = f"{prefix}-FIXES" in self.text
        self.expects_errors = re.search(
            rf"{prefix}-(MESSAGES|NOTES)[A-Z-]*:.*\berror:", self.text) is not None
        # The lines stay, so that line numbers do; the text of the expectations
        # goes, so that they cannot match themselves.
        self.blanked = re.sub(r"// *[A-Z0-9-]+-(MESSAGES|NOTES|FIXES)[A-Z0-9-]*:[^\r\n]*",
                              "//", self.text)
        self.copy = Path(arguments.temporary + ".cpp")

    def command(self, frontend: str, pch: bool) -> list[str]:
        arguments, site = self.arguments, self.site
        command = [site["torch_tidy"]] if frontend == "driver" else [
            site["clang_tidy"],
            "-load=" + os.environ.get("TORCH_TIDY_TEST_PLUGIN", site["plugin"])]
        command += [f"--checks=-*,{arguments.check}", str(self.copy)]
        # The driver has a cache of precompiled headers of its own.
        if frontend == "driver" and not pch:
            command.append("--no-cache")
        command += arguments.tool + ["--"] + site["torch_flags"]
        if frontend == "plugin" and pch:
            command += ["-include-pch", site["pch"]]
        if arguments.std:
            command += ["-std=" + arguments.std]
        # Headers of the test lie beside the test, not beside its copy.
        return command + ["-I", str(arguments.source.parent)] + arguments.compiler

    def execute(self, frontend: str, pch: bool, options: list[str]) -> str:
        """The standard output of the tool on the copy as it is now."""
        command = self.command(frontend, pch)
        command[command.index("--"):command.index("--")] = options
        try:
            result = subprocess.run(command, capture_output=True, text=True,
                                    errors="replace", timeout=TIMEOUT_SECONDS)
        except FileNotFoundError as error:
            raise Failure(f"{command[0]} does not exist: build it first") from error
        except subprocess.TimeoutExpired as error:
            raise Failure(
                f"no end after {TIMEOUT_SECONDS} s: {' '.join(command)}") from error
        allowed = [0, 1] if self.expects_errors else [0]
        if result.returncode not in allowed:
            raise Failure(f"exit code {result.returncode} of {' '.join(command)}\n"
                          f"{result.stdout}{result.stderr}")
        return result.stdout

    def run(self, frontend: str, pch: bool) -> Run:
        """Runs the check once, with --fix where fixes are expected."""
        name = frontend if pch else f"{frontend}, no precompiled header"
        exported = Path(f"{self.arguments.temporary}.{frontend}.yaml")
        exported.unlink(missing_ok=True)
        self.copy.write_text(self.blanked)
        options = [f"--export-fixes={exported}"] + (["--fix"] if self.has_fixes else [])
        sarif = Path(f"{self.arguments.temporary}.sarif")
        if frontend == "driver":
            options.append(f"--sarif={sarif}")
        output = self.execute(frontend, pch, options)
        if frontend == "driver":
            check_kinds(json.loads(sarif.read_text(encoding="utf-8")))
        # Said under --fix only, of no interest to CHECK-NOTES.
        output = re.sub(r"^.*: note: FIX-IT applied suggested code changes\n", "",
                        output, flags=re.M)
        fixes = exported.read_text() if exported.exists() else ""
        return Run(name, output, fixes, self.copy.read_text())

    def file_check(self, text: str, kind: str, options: list[str]) -> None:
        """FileCheck of text against the expectations of one kind."""
        subject = Path(f"{self.arguments.temporary}.{kind.lower()}")
        subject.write_text(text)
        result = subprocess.run(
            [self.site["filecheck"], f"--input-file={subject}",
             str(self.arguments.source),
             f"--check-prefix={self.arguments.prefix}-{kind}"] + options,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise Failure(f"{kind} do not match\n{result.stdout}\n--- whole text:\n{text}")

    def check_output(self, run: Run) -> None:
        if self.has_notes:
            self.file_check(run.output, "NOTES",
                            ["--implicit-check-not={{note|warning|error}}:"])
        elif self.has_messages:
            self.file_check(run.output, "MESSAGES",
                            ["--implicit-check-not={{warning|error}}:"])
        elif diagnostics(run.output):
            raise Failure(f"no diagnostic is expected, there are\n{run.output}")

    def check_fixes(self, run: Run, frontend: str, pch: bool) -> None:
        self.file_check(run.fixed, "FIXES", ["--strict-whitespace"])
        if run.fixed == self.blanked:
            raise Failure("--fix changed nothing")
        # The copy holds the fixed text.
        output = self.execute(frontend, pch, ["--fix"])
        if diagnostics(output, "error"):
            raise Failure(f"the fixed file does not parse\n{output}\n"
                          f"--- fixed file:\n{run.fixed}")
        if not self.arguments.still_warns and diagnostics(output):
            raise Failure(f"warnings remain after the fix (-still-warns allows it)\n"
                          f"{output}\n--- fixed file:\n{run.fixed}")
        again = self.copy.read_text()
        if again != run.fixed:
            raise Failure("a second --fix changes the file again\n"
                          + differences("fixed once", run.fixed, "fixed twice", again))

    def in_sample(self) -> bool:
        if os.environ.get("TORCH_TIDY_TEST_SAMPLE") == "0":
            return False
        root = Path(self.site["source"])
        lines = (root / "sample.txt").read_text().splitlines()
        return any(self.arguments.source.resolve() == (root / line).resolve()
                   for line in lines if line and not line.startswith("#"))

    def main(self) -> None:
        arguments = self.arguments
        pch = not (arguments.no_pch or arguments.std
                   or os.environ.get("TORCH_TIDY_TEST_NO_PCH") == "1")
        first = "plugin" if arguments.frontend == "plugin" else "driver"
        run = self.run(first, pch)
        self.check_output(run)
        if self.has_fixes:
            self.check_fixes(run, first, pch)
        if arguments.frontend == "both":
            compare(run, self.run("plugin", pch))
        if pch and self.in_sample():
            compare(run, self.run(first, False))


def check_kinds(log: dict[str, Any]) -> None:
    known = {(kind.check, kind.name) for kind in registry.read_kinds()[0]}
    checks = {check for check, _ in known}
    for result in log["runs"][0]["results"]:
        check = result["ruleId"]
        kind = result.get("properties", {}).get("torchTidy", {}).get("kind")
        if check in checks and (check, kind) not in known:
            raise Failure(f"{kind} is no kind of {check}: {result['message']['text']}")
        for note in result.get("relatedLocations", []):
            # Clang's own tell where a macro is.
            words = note["message"]["text"]
            if check in checks and "properties" not in note \
                    and not words.startswith("expanded from"):
                raise Failure(f"a note of {check} has no role: {words}")


def diagnostics(output: str, kinds: str = "warning|error") -> bool:
    return re.search(rf"(^|: )({kinds}): ", output, re.M) is not None


def differences(first_name: str, first: str, second_name: str, second: str) -> str:
    return "".join(difflib.unified_diff(
        first.splitlines(True), second.splitlines(True), first_name, second_name))


def compare(first: Run, second: Run) -> None:
    for what in ["output", "fixes", "fixed"]:
        difference = differences(first.name, getattr(first, what),
                                 second.name, getattr(second, what))
        if difference:
            raise Failure(f"{first.name} and {second.name} differ ({what})\n{difference}")


if __name__ == "__main__":
    try:
        Test(parse_arguments()).main()
    except Failure as failure:
        sys.exit(f"check_torch: {failure}")
