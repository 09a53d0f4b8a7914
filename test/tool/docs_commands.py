#!/usr/bin/env python3
"""Runs the commands of the documentation, as they stand in the pages.

    docs_commands.py WORK --site SITE.JSON [--build --cxx COMMAND --probe-cache FOLDER]
                     [--pages-from FOLDER] PAGE...

Commands are the lines of an indented block that begin with the name of a program, those behind
a prompt in a block of ```console, scripts in ```sh, and what CI runs in ```yaml. They run one
after the other in a folder that is a user's project: a new one for each page, with a stub of
LibTorch; or with --build, for those that run a program, one with the real LibTorch. Each has to
end with 0, or with what ENDS says. What cannot be run here is in ELSEWHERE, with the test that
runs it, or in CANNOT, with the reason; both fail when they name a command that no page has.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = {"apt-get", "bazel", "clang-tidy-19", "clang-tidy-21", "cmake", "diff", "git", "ninja",
            "pip", "python", "run-clang-tidy-19", "tar", "test/run",
            "test/setup/clean_roots.sh", "test/setup/newer_host.sh", "tool/package",
            "tool/quickstart", "torch-confirm", "torch-tidy"}
# Indented lines that show what is printed. A line that is neither is a problem: it may be a
# command of a program that is not known here.
PRINTED = re.compile(r"torch-tidy: |line \d+:|FAILED  |.*: warning: ")
# Words that the reader replaces, and what CI does.
PLACEHOLDERS = {"<files>": "src/train.cpp src/evaluate.cpp", "<file>": "src/train.cpp",
                "<compiler flags>": "-std=c++17 -isystem libtorch/include",
                # The action's variables; each shard is a machine.
                "${{ matrix.shard }}": "$shard"}
# Commands that end with 1 since they find something, told by their page and how they begin.
ENDS = {("README.md", "torch-tidy --fail-on=0"), ("docs/torch-tidy.md", "torch-tidy --fail-on=0"),
        ("docs/ci.md", "torch-tidy -p build --fail-on=0"),
        ("docs/ci.md", "torch-tidy -p build --fail-on=1"),
        ("docs/ci.md", "torch-tidy merge --fail-on=0"),
        ("docs/ci.md", "ninja -C build torch-tidy"),
        ("README.md", "torch-tidy --diff"), ("docs/ci.md", "torch-tidy --diff")}
# What replays the section of docs/ci.md.
CODECHECKER = ("test/tool/codechecker.py", '"## CodeChecker"')
# A page, how a command begins, the test that runs it, and what this test has to say of it: a
# file of that test which has the words.
ELSEWHERE = {
    ("README.md", "tool/quickstart"): (".ci/run", "tool/quickstart"),
    ("README.md", "torch-tidy --watch"): ("test/tool/watch.py", "--watch"),
    ("README.md", "cmake -G Ninja"): ("test/setup/find-libtorch.test", "Torch_DIR"),
    ("docs/install.md", "tool/package"): ("test/setup/package_here.sh", "tool/package"),
    ("docs/install.md", "pip install"): ("test/setup/clean_root.sh", "pip install"),
    ("docs/install.md", "cd /example"): ("test/setup/clean_root.sh", "cd /example && torch-tidy"),
    ("docs/install.md", "python -m torch_tidy"): ("test/setup/clean_root.sh", "-m torch_tidy"),
    ("docs/install.md", "tar xzf"): ("test/setup/clean_root.sh", "tar xzf"),
    ("docs/install.md", "/opt/torch-tidy"): ("test/setup/clean_root.sh", "bin/torch-tidy"),
    ("docs/bazel.md", "bazel build --config=torch-tidy"):
        ("test/tool/bazel-run.test", "--config=torch-tidy //..."),
    ("docs/pre-commit.md", "git commit"): ("test/tool/pre-commit.test", "git commit"),
    ("docs/torch-confirm.md", "ninja -C build/example"):
        ("test/tool/confirm_session.py", "ninja -C build/example"),
    ("docs/torch-confirm.md", "build/bin/torch-confirm run"):
        ("test/tool/confirm_session.py", "build/bin/torch-confirm run"),
    ("docs/ci.md", "export CC_ANALYZER_BIN"): CODECHECKER,
    ("docs/ci.md", "CodeChecker"): CODECHECKER,
    ("docs/ci.md", "torch-tidy --list-checks=json | python3"): CODECHECKER,
    ("docs/memory.md", "torch-confirm live"): ("test/tool/confirm_live.py", '"live"'),
}
NO_LLVM_21 = "Debian 12 has no LLVM 21; test/setup/newer_host.sh runs it in a Debian that has"
CANNOT = {
    ("README.md", "test/run"): "it runs this test",
    ("docs/bazel.md", "bazel build --config=rules-lint"):
        "rules_lint cannot be had here, and the page says so",
    ("docs/plugin.md", "apt-get install"): NO_LLVM_21,
    ("docs/plugin.md", "cmake -G Ninja -B build-21"): NO_LLVM_21,
    ("docs/plugin.md", "ninja -C build-21"): NO_LLVM_21,
    ("docs/plugin.md", "clang-tidy-21"): NO_LLVM_21,
    ("docs/plugin.md", "test/setup/newer_host.sh"): NO_LLVM_21,
    ("docs/install.md", "test/setup/clean_roots.sh"):
        "it makes two systems; package-run.test makes one with the same script",
    ("docs/torch-confirm.md", "build/bin/torch-confirm fix"):
        "it builds the example three times; the same command runs with a smaller program",
}
# Pages whose project is a program that runs.
PROGRAM_PAGES = {"docs/torch-confirm.md", "docs/memory.md"}
# What sessions.test replays; it compares what is printed, too.
REPLAYED = re.findall(r"%source_root/(docs/[\w-]+\.md)", (HERE / "sessions.test").read_text())


@dataclass
class Command:
    page: str
    line: int
    block: str
    text: str

    def runs_a_program(self) -> bool:
        """Whether it needs one that is built, as --build has it."""
        return self.page in PROGRAM_PAGES or self.text.startswith("torch-confirm")

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def logical(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines, those that end with a backslash with the next one."""
    pending: tuple[int, str] | None = None
    for number, line in lines:
        if pending:
            number, line = pending[0], f"{pending[1]}\n{line}"
        pending = (number, line) if line.endswith("\\") else None
        if not pending:
            yield number, line


def blocks(text: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Blocks of code with their numbered lines: the word behind ```, or "indented"."""
    fence, kind, found = "", "", list[tuple[int, str]]()
    blank = True
    for number, line in enumerate([*text.splitlines(), ""], 1):
        mark = re.match(r" *(```+)(.*)", line)
        if fence:
            if mark and mark[1] == fence:
                yield kind, found
                fence, found = "", []
            else:
                found.append((number, line))
            continue
        if line.startswith("    ") and (blank or kind == "indented"):
            kind = "indented"
            found.append((number, line[4:]))
        elif kind == "indented" and line.strip():
            yield kind, found
            kind, found = "", []
        if mark:
            fence, kind, found = mark[1], mark[2], []
        blank = not line.strip()
    if kind == "indented" and found:
        yield kind, found


def commands(pages: Path, page: str, problems: list[str]) -> Iterator[Command]:
    for kind, lines in blocks((pages / page).read_text()):
        if kind == "console":
            # "# " is the prompt of root where a block begins with it, else printed.
            prompt = lines[0][1][:2]
            for number, line in logical(lines):
                if line.startswith(prompt) and prompt in {"$ ", "# "}:
                    yield Command(page, number, kind, line[2:])
        elif kind == "sh":
            yield Command(page, lines[0][0], kind, "\n".join(line for _, line in lines))
        elif kind == "yaml":
            for number, line in lines:
                if found := re.match(r"\s*- (?:run: )?(torch-tidy .*)", line):
                    yield Command(page, number, kind, found[1])
        elif kind == "indented":
            prompted = lines[0][1].startswith("$ ")
            for number, line in logical(lines):
                if prompted:
                    if line.startswith("$ "):
                        yield Command(page, number, kind, line[2:])
                    continue
                # Behind it there may be a remark.
                text = re.sub(r"(?<=\S) {2,}(?![ -]).*", "", line) if "\n" not in line else line
                first = text.split(" ", 1)[0] if line else ""
                if first in PROGRAMS or first.startswith("/opt/"):
                    yield Command(page, number, kind, text)
                elif line.strip() and not line.startswith(" ") and not PRINTED.match(line):
                    problems.append(f"{page}:{number}: neither a command nor what one prints, as "
                                    f"far as this test knows: {line}")


def matches(command: Command, names: Any) -> tuple[str, str] | None:
    return next((name for name in names
                 if name[0] == command.page and command.text.startswith(name[1])), None)


class Runner:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.site: dict[str, Any] = json.loads(arguments.site.read_text())
        self.work: Path = arguments.work.resolve()
        self.pages: Path = arguments.pages_from
        self.sources: dict[Path, str] = {}
        self.compiled_quietly = False
        self.start_seen = False
        self.programs = self.work / "programs"
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", CMAKE_GENERATOR="Ninja",
                                TORCH_TIDY_CACHE=str(self.work / "cache"), OMP_NUM_THREADS="1",
                                # Where an installation has the plugin, for -load=TorchTidy.so.
                                LD_LIBRARY_PATH=str(Path(self.site["plugin"]).parent),
                                GIT_CONFIG_GLOBAL=os.devnull,
                                PATH=f"{self.programs}{os.pathsep}{os.environ['PATH']}")

    def tools(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.programs.mkdir(parents=True)
        llvm = Path(self.site["clang_tidy"]).resolve().parent
        for name, program in [
                ("torch-tidy", self.site["torch_tidy"]), ("cmake", self.site["cmake"]),
                ("torch-confirm", Path(self.site["torch_tidy"]).with_name("torch-confirm")),
                ("clang-tidy-19", self.site["clang_tidy"]),
                ("run-clang-tidy-19", llvm / "run-clang-tidy")]:
            (self.programs / name).symlink_to(program)
        if self.arguments.probe_cache:
            (self.work / "cache").mkdir()
            self.arguments.probe_cache.mkdir(parents=True, exist_ok=True)
            (self.work / "cache" / "probe").symlink_to(self.arguments.probe_cache.resolve())

    def must(self, *words: object, folder: Path) -> str:
        done = subprocess.run([str(word) for word in words], cwd=folder, text=True,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(map(str, words))} ends with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def in_git(self, folder: Path) -> None:
        (folder / ".gitignore").write_text("build*/\n")
        for words in ["init -q -b main .", "config user.name a",
                      "config user.email a@example.org", "add .", "commit -qm first",
                      "update-ref refs/remotes/origin/main main"]:
            self.must("git", *words.split(), folder=folder)

    def project(self, name: str) -> Path:
        """A user's project: what main has is right, what was changed since is not."""
        folder = self.work / name
        shutil.copytree(HERE / "Inputs" / "commands", folder)
        shutil.copytree(HERE / "Inputs" / "libtorch", folder / "libtorch")
        shutil.copy(folder / "src" / "train.cpp", folder / "train.cpp")
        (folder / "train.cpp").write_text((folder / "train.cpp").read_text().replace(
            '"net.h"', '"src/net.h"').replace("train(", "train_again("))
        target = [lines for kind, lines in blocks((ROOT / "docs/ci.md").read_text())
                  if kind == "cmake"]
        with open(folder / "CMakeLists.txt", "a", encoding="ascii") as file:
            file.writelines(f"{line}\n" for _, line in target[0])
        self.in_git(folder)
        path = folder / "src" / "train.cpp"
        path.write_text(path.read_text().replace("    optimizer.step();\n    optimizer.zero",
                                                 "    optimizer.step(); // optimizer.zero"))
        self.must("cmake", "-S", ".", "-B", "build", folder=folder)
        (folder / "build" / "lib").symlink_to(Path(self.site["plugin"]).parent)
        self.sources = {path: path.read_text() for path in folder.rglob("*.cpp")
                        if "libtorch" not in path.parts}
        return folder

    def programs_of(self, name: str) -> Path:
        """The program that docs/README.md shows, built, and with its fixes."""
        folder = self.work / name
        if folder.exists():
            return folder
        shutil.copytree(HERE / "Inputs" / "commands-run", folder)
        shutil.copy(HERE / "Inputs" / "session" / "first.cpp", folder / "train.cpp")
        self.in_git(folder)
        precompiled = ""
        if Path(self.arguments.cxx).name == "clang++-19":
            precompiled = f"-include-pch;{self.site['pch']}"
        shutil.copy(folder / "train.cpp", folder / "fixed.cpp")
        self.must("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=None",
                  f"-DCMAKE_CXX_COMPILER={self.arguments.cxx}",
                  f"-DTorch_DIR={self.site['torch_root']}", f"-DPRECOMPILED={precompiled}",
                  f"-DCMAKE_MODULE_PATH={ROOT / 'third_party' / 'cmake'}", folder=folder)
        self.must("torch-tidy", "--fix", "-p", "build", "fixed.cpp", folder=folder)
        self.must("torch-tidy", "-p", "build", "--sarif=findings.sarif", "train.cpp",
                  folder=folder)
        built = self.must("cmake", "--build", "build", "-j1", "--target", "all",
                          "with-sanitizer", folder=folder)
        self.compiled_quietly = "warning:" not in built
        (folder / "build-asan").mkdir()
        (folder / "build" / "with-sanitizer").rename(folder / "build-asan" / "train")
        shutil.copy(folder / "build" / "train", folder / "build" / "forecast")
        self.must("torch-confirm", "report", "--json", "after.json", "--", "build/fixed",
                  folder=folder)
        return folder

    def program_of_start(self, folder: Path) -> Iterator[str]:
        """What docs/README.md shows of its program, and says that it prints."""
        page = (ROOT / "docs/README.md").read_text()
        shown = re.findall(r"```cpp\n// first\.cpp\n(.*?)```", page, re.S)
        if shown != [(HERE / "Inputs" / "session" / "first.cpp").read_text()]:
            yield "docs/README.md does not show test/tool/Inputs/session/first.cpp as it is"
        if not self.compiled_quietly:
            yield "docs/README.md: its program is compiled with a warning"
        said = re.findall(r"mean loss ([\d.]+)`", page)
        printed = [self.must(f"build/{name}", folder=folder).split()[-1]
                   for name in ["train", "fixed"]]
        if len(said) != 2 or any(abs(float(left) / float(right) - 1) > 0.01
                                 for left, right in zip(said, printed)):
            yield f"docs/README.md says that the program prints {said}, but it is {printed}"

    def run(self, command: Command, folder: Path) -> str | None:
        """What is wrong with it."""
        text = command.text
        for word, value in PLACEHOLDERS.items():
            text = text.replace(word, value)
        if command.block == "sh":
            # A script that hands its arguments on. It must not write into the machine's folders.
            script = folder / "script.sh"
            script.write_text(re.sub(r"/var/tmp/[\w-]+", str(self.work / "cache"), text))
            text = "sh script.sh -p build src/evaluate.cpp"
        # One shard of several stands for all.
        if "$shard" in text:
            text = f"for shard in 1 2 3 4; do {text}; done"
        elif shard := re.search(r"shard[=-](\d)(?=[/.])", text):
            text = text.replace(f"={shard[1]}/", "=$shard/").replace(f"shard-{shard[1]}.",
                                                                    "shard-$shard.")
            text = f"for shard in 1 2 3 4; do {text}; done"
        done = subprocess.run(["bash", "-c", text], cwd=folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        expected = 1 if matches(command, ENDS) and "--baseline" not in text else 0
        # A gate ends with 1 for what it found, and not for another reason.
        gate = "(--fail-on)" in done.stdout or "finding" in done.stdout
        if done.returncode != expected or (expected and not gate) or "error:" in done.stdout:
            return (f"{command}\n  ends with {done.returncode}, expected {expected}:\n"
                    + done.stdout[-3000:])
        return None

    def page(self, name: str, problems: list[str]) -> tuple[int, int]:
        """How many commands ran, and how many do so elsewhere or not at all."""
        folder: Path | None = None
        ran = other = 0
        for command in commands(self.pages, name, problems):
            if self.arguments.build != command.runs_a_program():
                continue
            known = matches(command, ELSEWHERE) or matches(command, CANNOT)
            if known or (command.block == "console" and name in REPLAYED):
                other += 1
                continue
            if command.block == "yaml":
                # A machine of its own.
                if not (self.work / "ci").exists():
                    self.project("ci")
                place = self.work / "ci"
            else:
                # Runs of a program leave it as it is, and it takes long to build.
                folder = folder or (self.programs_of("program") if self.arguments.build else
                                    self.project(name.replace("/", "-")))
                place = folder
            # A command that fixes or silences what it finds leaves nothing for the next one.
            for path, text in self.sources.items():
                path.write_text(text)
            began = time.monotonic()
            problem = self.run(command, place)
            print(f"{'FAILED' if problem else 'ok'}: {command} "
                  f"({time.monotonic() - began:.1f} s)", flush=True)
            problems += [problem] if problem else []
            ran += 1
        if self.arguments.build and folder and not problems and not self.start_seen:
            self.start_seen = True
            problems += self.program_of_start(folder)
        return ran, other

    def all(self) -> int:
        problems: list[str] = []
        ran = other = 0
        self.tools()
        for name in self.arguments.pages:
            if not (self.pages / name).is_file():
                problems.append(f"{name} is missing")
                continue
            here, there = self.page(name, problems)
            ran, other = ran + here, other + there
        every = [command for page in {page for page, _ in [*ELSEWHERE, *CANNOT, *ENDS]}
                 if (self.pages / page).is_file() for command in commands(self.pages, page, [])]
        for known in [*ELSEWHERE, *CANNOT, *ENDS]:
            if not any(matches(command, [known]) for command in every):
                problems.append(f"{known[0]} has no command '{known[1]} ...' any more")
        for (page, text), (test, words) in ELSEWHERE.items():
            path = ROOT / test
            if not path.is_file() or words not in path.read_text():
                problems.append(f"{page}: {text}: {test} does not run it")
        print("\n".join(problems))
        print(f"{len(self.arguments.pages)} pages, {ran} commands run here, {other} elsewhere or "
              f"not at all, {len(problems)} problems")
        return 1 if problems or not ran else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--site", type=Path, required=True)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--probe-cache", type=Path)
    parser.add_argument("--pages-from", type=Path, default=ROOT)
    parser.add_argument("pages", nargs="+")
    return Runner(parser.parse_args()).all()


if __name__ == "__main__":
    sys.exit(main())
