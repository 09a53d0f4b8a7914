#!/usr/bin/env python3
"""Runs torch-confirm fix on the project of Inputs/confirm/fix.

    confirm_fix.py WORK --torch-confirm FILE --torch-tidy FILE --cache-dir FOLDER ...
"""

import argparse
import copy
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "support"))
import cmake_build  # noqa: E402

BREAKS = "this_is_no_statement();"


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """Contents and times of all files."""
    return {str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.failed = arguments, 0
        self.work = arguments.work
        self.project = self.work / "my project"
        self.build = self.project / "build"
        self.program = self.build / "programs" / "train"
        self.findings = self.work / "findings.sarif"
        # PCH files of another Clang, and GCC's, are none.
        is_ours = Path(arguments.cxx).name == "clang++-19"
        self.precompiled = ";".join(shlex.split(arguments.pch_flags)) if is_ours else ""

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}", flush=True)

    def prepare(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        shutil.copytree(HERE / "Inputs" / "confirm" / "fix", self.project)
        (self.project / "ignored").mkdir()
        (self.project / "ignored" / "big.bin").write_text("data")
        (self.project / ".gitignore").write_text("build/\nignored/\n")
        subprocess.run(["git", "init", "-q", self.project], check=True)
        # One file that git tracks, the others are new.
        subprocess.run(["git", "-C", self.project, "add", "CMakeLists.txt"], check=True)
        modules = HERE.parents[1] / "third_party" / "cmake"
        cmake_build.build(
            self.project, self.build, f"-DCMAKE_CXX_COMPILER={self.arguments.cxx}",
            f"-DTorch_DIR={self.arguments.torch}", f"-DCMAKE_MODULE_PATH={modules}",
            f"-DPRECOMPILED={self.precompiled}", "-DCMAKE_BUILD_TYPE=None",
            cmake=self.arguments.cmake)
        subprocess.run([self.arguments.torch_tidy, "--quiet", "-p", self.build,
                        f"--sarif={self.findings}"], check=True, capture_output=True)

    def fix(self, *options: object, program: object = None,
            arguments: tuple[object, ...] = ("timed",)) -> tuple[int, str, dict[str, Any]]:
        """Exit code, standard error, the JSON."""
        told = self.work / "fix.json"
        told.unlink(missing_ok=True)
        words = [self.arguments.torch_confirm, "fix", "--cache-dir", self.arguments.cache_dir,
                 "-j2", "--json", told, *options, "--", program or self.program, *arguments]
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                             cwd=self.work, timeout=600, check=False)
        self.check("nothing on standard output", run.stdout == "", run.stdout)
        return (run.returncode, run.stderr,
                json.loads(told.read_text()) if told.exists() else {})

    def verdicts(self, told: dict[str, Any]) -> dict[str, str]:
        return {each["check"].removeprefix("torch-"): each["verdict"]
                for each in told.get("findings", [])}

    def together(self) -> None:
        """The fix of wrong results changes what is printed; beside the program with it the
        other one does not."""
        kept = self.work / "kept-together"
        code, errors, told = self.fix(
            "-p", self.build, "--findings", self.findings, "--only", "torch-missing-zero-grad",
            "--only", "torch-missing-no-grad", "--fail-on", "unconfirmed", "--keep", kept)
        self.check("together: all confirmed", code == 0 and self.verdicts(told) == {
            "missing-zero-grad": "CONFIRMED", "missing-no-grad": "CONFIRMED"}, errors)
        beside = told.get("comparison", {})
        self.check("together: the ends are the same",
                   (beside.get("endBefore"), beside.get("endAfter")) == ("exit code 0",) * 2,
                   beside)
        # The last line, a time, differs in any two runs.
        self.check("together: which lines differ",
                   [each["line"] for each in beside.get("firstDifferent", [])] == [2, 3]
                   and beside["unsteadyLines"] == 1 and beside["lines"] == 5, beside)
        nodes = told.get("totals", {}).get("nodes-made", {})
        self.check("together: fewer graph nodes", nodes and nodes["after"] < nodes["before"],
                   told.get("totals"))
        self.check("together: report", "CONFIRMED  my project/model/evaluate.h:8" in errors
                   and "run by no backward" in errors
                   and "fixed: no graph is recorded in 20 passes" in errors, errors)
        self.check("what git ignores is not copied", (kept / "my project/model").is_dir()
                   and not (kept / "my project/ignored").exists(), list(kept.rglob("*")))

    def alone(self) -> None:
        """Each by itself; one breaks the build, of one the output is not the same."""
        findings = self.work / "broken.sarif"
        log = json.loads(self.findings.read_text())
        results = log["runs"][0]["results"]
        broken = copy.deepcopy(next(r for r in results if r["ruleId"].endswith("no-grad")))
        change = broken["fixes"][0]["artifactChanges"][0]
        change["replacements"][0]["insertedContent"]["text"] += BREAKS
        results.append(broken)
        findings.write_text(json.dumps(log))
        code, errors, told = self.fix("-p", self.build, "--findings", findings, "--each",
                                      "--fail-on", "unconfirmed")
        said = [(each["check"].removeprefix("torch-"), each["verdict"], each["sentence"])
                for each in told.get("findings", [])]
        self.check("--each: verdicts", sorted(each[:2] for each in said) == [
            ("missing-no-grad", "CONFIRMED"), ("missing-no-grad", "DOES NOT BUILD"),
            ("missing-zero-grad", "CONFIRMED"), ("retained-graph", "OUTPUT CHANGED")],
            errors)
        self.check("--each: --fail-on", code == 1, code)
        self.check("--each: the changed line", any(
            "changed what the program prints: line 4" in each[2] for each in said), said)
        self.check("--each: the compiler's error names the user's file", any(
            f"{self.project}/./model/evaluate.h:5" in each[2] and BREAKS in each[2]
            for each in said), said)
        zero = next(e for e in told["findings"] if e["check"].endswith("zero-grad"))
        self.check("--each: numbers", zero["before"]["number"] == 39
                   and zero["after"]["number"] == 0, zero)

        log["runs"][0]["results"] = [broken]
        findings.write_text(json.dumps(log))
        kept = self.work / "kept-broken"
        code, errors, told = self.fix("-p", self.build, "--findings", findings, "--keep", kept,
                                      "--copy", self.project / "ignored")
        self.check("a fix that breaks the build", code == 2 and not told
                   and "the program does NOT BUILD with the fix of [torch-missing-no-grad]"
                   in errors and BREAKS in errors, errors)
        self.check("--copy", (kept / "my project/ignored/big.bin").exists())

    def experiment(self) -> None:
        """Grad mode is off at the place in another run of the same program."""
        planted = self.work / "planted.txt"
        lines = (self.project / "model" / "evaluate.h").read_text().splitlines()
        number = next(n for n, line in enumerate(lines, 1) if "requires_grad" in line)
        planted.write_text(f"{self.project}/model/evaluate.h:{number}:10: warning: planted "
                           "[torch-missing-no-grad]\n")
        alike = "exit code and output (4 lines) are the same"
        # Each run reads it from its beginning.
        text = self.work / "read.txt"
        text.write_text("1234567")
        for mode, findings, verdict, sentence in [
                ("", self.findings, "CONFIRMED", alike),
                ("timed ignored", self.findings, "CONFIRMED", alike),
                ("timed", self.findings, "CONFIRMED", "not measurable by experiment: two runs of "
                 "the program as it is differ in line 5"),
                ("needs", planted, "REFUTED", "with exit code 3 in place of exit code 0"),
                ("prints", planted, "NOT MEASURABLE HERE",
                 "the program prints something else in line 5")]:
            told = self.work / "run.json"
            ignored = ["--ignore-lines", "^took [0-9]+ ns$"] if "ignored" in mode else []
            words = [self.arguments.torch_confirm, "run", "--experiment", *ignored,
                     "--cache-dir", self.arguments.cache_dir, "--findings", findings, "--json",
                     told, "--", self.program, mode.split(" ")[0]]
            with open(text if mode == "" else os.devnull, "rb") as stream:
                run = subprocess.run([str(word) for word in words], capture_output=True,
                                     text=True, stdin=stream, check=False)
            found = [each for each in json.loads(told.read_text())["findings"]
                     if each["check"] == "torch-missing-no-grad"]
            one = found[0] if found else {"experiment": {}}
            self.check(f"experiment '{mode}': {verdict}", len(found) == 1
                       and one["verdict"] == verdict and run.returncode == 0, run)
            self.check(f"experiment '{mode}': {sentence}",
                       sentence in one["experiment"]["sentence"]
                       and one["experiment"]["isProof"] == (sentence == alike), one)
            if mode == "":
                self.check("experiment: its input", "7 bytes of input" in run.stdout, run.stdout)
                self.check("experiment: both numbers", "20 passes" in one["experiment"]["without"]
                           and "no graph is recorded in 20 passes" in one["experiment"]["with"]
                           and "so: no graph is recorded in 20 passes" in run.stderr, run.stderr)
            self.check("experiment: the output comes once", run.stdout.count("loss ") == 1,
                       run.stdout)

    def by_command(self) -> None:
        """Without git and CMake, with torch-tidy's findings of now; a folder is kept."""
        plain = self.work / "plain"
        (plain / "out").mkdir(parents=True)
        shutil.copytree(self.project / "model", plain / "model")
        shutil.copy(self.project / "programs" / "train.cpp", plain)
        commands = json.loads((self.build / "compile_commands.json").read_text())[0]["command"]
        root = Path(self.arguments.torch)
        flags = [word for word in shlex.split(commands)[1:-4] if "my project" not in word]
        libraries = [f"-L{root}/lib", f"-Wl,-rpath,{root}/lib", "-ltorch_cpu", "-lc10"]
        words = [self.arguments.cxx, *flags, "-I{source}", "{source}/train.cpp", "-o",
                 "{build}/train", *libraries]
        command = " ".join(words)
        own = command.replace("{source}", str(plain)).replace("{build}", str(plain / "out"))
        subprocess.run(own, shell=True, check=True)
        (plain / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(plain), "file": "train.cpp", "command": own}]))
        shutil.copy(plain / "compile_commands.json", plain / "out")
        before, kept, text = state(plain), self.work / "kept", self.work / "input.txt"
        text.write_text("seven b")
        code, errors, told = self.fix(
            "-p", plain / "out", "--source", plain, "--build-command", command, "--analyze",
            "--torch-tidy", self.arguments.torch_tidy, "--keep", kept, "--input", text,
            "--level", "1", "--output", self.work / "report.txt", "--only",
            "torch-missing-no-grad", "--ignore-lines", "^took .*ns$",
            program=plain / "out" / "train")
        self.check("--build-command", code == 0
                   and self.verdicts(told) == {"missing-no-grad": "CONFIRMED"}, errors)
        self.check("--ignore-lines", told.get("comparison", {}).get("outputSame")
                   and told["comparison"]["unsteadyLines"] == 0 and "once more" not in errors,
                   told.get("comparison"))
        self.check("--build-command: nothing is touched", before == state(plain))
        self.check("--keep", "NoGradGuard" in (kept / "plain/model/evaluate.h").read_text()
                   and (kept / "plain/out/train").exists(), list(kept.rglob("*")))
        first = (kept / "as-it-is.out").read_text().splitlines()[0]
        self.check("--input", first == "1 argument, 7 bytes of input", first)
        report = (self.work / "report.txt").read_text()
        self.check("--output", "1 confirmed" in report and "1 confirmed" not in errors, report)

    def refused(self) -> None:
        """What is wrong is told before anything is copied."""
        def without(check: str) -> Path:
            log = json.loads(self.findings.read_text())
            for each in log["runs"][0]["results"]:
                if each["ruleId"] == check:
                    del each["fixes"]
            path = self.work / "without.sarif"
            path.write_text(json.dumps(log))
            return path

        text = self.work / "findings.txt"
        text.write_text(f"{self.project}/model/evaluate.h:8:28: warning: x "
                        "[torch-missing-no-grad]\n")
        stale = self.work / "stale.sarif"
        shutil.copy(self.findings, stale)
        os.utime(stale, (1, 1))
        other = self.work / "elsewhere"
        shutil.copy(self.program, other)
        findings = ["--findings", self.findings]
        for options, program, message in [
                (findings, other, "is not below"),
                ([*findings, "--only", "torch-leaf-inplace"], None,
                 "none of the 3 findings is of the checks of --only"),
                ([*findings, "--only", "torch-nothing"], None, "no check 'torch-nothing'"),
                ([*findings, "--keep", self.project], None, "is there and not empty"),
                ([*findings, "--copy", self.work], None, "is no file or folder of"),
                (["--findings", without("torch-missing-no-grad"), "--only",
                  "torch-missing-no-grad"], None, "no finding has a fix (1 finding)"),
                (["--findings", text], None, "fixes are read from SARIF only"),
                (["--findings", stale], None, "has changed since"),
                ([*findings, "--ignore-lines", "("], None, "is no regular expression"),
                ([], None, "say which findings are meant")]:
            code, errors, _ = self.fix("-p", self.build, *options, program=program)
            self.check(f"refused: {message}", code == 2 and message in errors
                       and "building" not in errors, errors)
        code, errors, _ = self.fix("-p", self.build, *findings, "--level", "0", "--only",
                                   "torch-missing-no-grad")
        self.check("refused: --level", code == 2 and "--only and --level" in errors, errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    for name in ["--torch-confirm", "--torch-tidy", "--cache-dir", "--cmake", "--torch", "--cxx",
                 "--pch-flags"]:
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    test = Test(arguments)
    test.prepare()
    temporary = arguments.work / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    before = state(test.project)
    test.refused()
    test.together()
    test.alone()
    test.experiment()
    test.check("the project and its build folder are untouched", before == state(test.project))
    test.by_command()
    test.check("no copy is left", not list(temporary.iterdir()), list(temporary.iterdir()))
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
