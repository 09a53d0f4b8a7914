"""Which programs the fixes are tried on, and how one is compiled and run."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

TEST = Path(__file__).resolve().parent.parent
SUFFIXES = {".h", ".hpp", ".inc", ".cpp", ".cc", ".cxx"}
# In this order: a program that includes both gets both precompiled.
PRECOMPILED = ["torch/torch.h", "torch/script.h"]
COMPILE_SECONDS = 1800


class Problem(Exception):
    """Something could not be tried at all."""


@dataclass
class Program:
    name: str
    root: Path
    # Relative to the root: what is analysed, and may be changed.
    files: list[str]
    flags: list[str] = field(default_factory=list)
    # Compiled and linked as well, and never changed.
    support: list[Path] = field(default_factory=list)

    @property
    def sources(self) -> list[str]:
        return [name for name in self.files if Path(name).suffix not in {".h", ".hpp", ".inc"}]

    @property
    def standard(self) -> str:
        """As test/unseen/score reads it."""
        for name in self.sources:
            with open(self.root / name) as file:
                if "STD: c++20" in file.readline():
                    return "-std=c++20"
        return "-std=c++17"


def single(source: Path) -> Program:
    return Program(f"{source.parent.name}/{source.name}", source.parent, [source.name])


def of_folder(folder: Path) -> Program:
    """A program of several sources."""
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                   if path.suffix in SUFFIXES)
    return Program(f"{folder.parent.name}/{folder.name}", folder, files)


def scenario(source: Path) -> Program:
    """As test/scenarios/CMakeLists.txt compiles it."""
    support = TEST / "scenarios" / "support"
    sources = [support / "measure.cpp"]
    if '#include "pretend.h"' in source.read_text():
        sources.append(support / "pretend.cpp")
    return Program(f"scenarios/{source.parent.name}", source.parent, [source.name],
                   ["-DNDEBUG", f"-I{support}"], sources)


def scenarios() -> list[Program]:
    return [scenario(source) for source in sorted(TEST.glob("scenarios/*/wrong.cpp"))]


def all_programs() -> list[Program]:
    folders = sorted(path.parent for path in TEST.glob("apps/example/*/main.cpp"))
    sources = sorted(TEST.glob("mutation/programs/*.cpp")) + sorted(
        TEST.glob("unseen/programs/round*/*.cpp"))
    return scenarios() + [of_folder(folder) for folder in folders] + [
        single(source) for source in sources]


def named(path: Path) -> list[Program]:
    """A source is a program; a folder has many, or one where it has a main.cpp."""
    path = path.absolute()
    if path.is_file():
        return [scenario(path) if path.name == "wrong.cpp" else single(path)]
    if (path / "main.cpp").exists():
        return [of_folder(path)]
    return [single(source) for source in sorted(path.glob("*.cpp"))]


@dataclass
class End:
    """How a run ended."""
    code: int
    exception: str
    output: str
    timed_out: bool = False

    def __str__(self) -> str:
        if self.timed_out:
            return "does not end"
        how = (f"signal {signal.Signals(-self.code).name}" if self.code < 0
               else f"exit code {self.code}")
        return f"{how}, {self.exception}" if self.exception else how


THROWN = re.compile(r"terminate called after throwing an instance of '(.*)'"
                    r"(?:\n\s*what\(\): *(.*))?")


class Compiler:
    """Compiles at -O0 with LibTorch's headers precompiled, once for each language standard."""

    def __init__(self, command: str, libtorch: Path, work: Path, limit: int) -> None:
        self.command = shlex.split(command)
        self.libtorch = libtorch
        self.work = work
        self.limit = limit
        self.locks: dict[Path, threading.Lock] = {}
        self.lock = threading.Lock()
        version = subprocess.run([*self.command, "--version"], capture_output=True, text=True,
                                 check=False)
        self.clang = "clang" in version.stdout
        config = libtorch / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
        text = config.read_text() if config.exists() else ""
        # LibTorch of the old ABI; the new one is what compilers take by themselves.
        abi = re.search(r"_GLIBCXX_USE_CXX11_ABI=0", text)
        # LibTorch is built by GCC, which mangles templates with enable_if as Clang did till 17.
        mangling = ["-fclang-abi-compat=17"] if self.clang else []
        self.flags = ["-O0", "-w", *mangling, *([f"-D{abi[0]}"] if abi else []),
                      *self.includes()]

    def includes(self) -> list[str]:
        inside = self.libtorch / "include"
        return ["-isystem", str(inside), "-isystem",
                str(inside / "torch" / "csrc" / "api" / "include")]

    def once(self, path: Path) -> threading.Lock:
        with self.lock:
            return self.locks.setdefault(path, threading.Lock())

    def execute(self, words: Sequence[object]) -> str:
        """Empty, or what is wrong."""
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              errors="replace", timeout=COMPILE_SECONDS, check=False)
        if done.returncode == 0:
            return ""
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        return errors[0] if errors else f"exit code {done.returncode}: {done.stderr[-500:]}"

    def precompiled(self, headers: list[str], standard: str) -> list[str]:
        """The flags that put these headers before the first line of a source."""
        if not headers:
            return []
        text = "".join(f"#include <{name}>\n" for name in headers)
        key = hashlib.sha256(repr([self.command, self.flags, standard, text]).encode()).hexdigest()
        header = self.work / "precompiled" / key[:16] / "before.h"
        made = header.with_suffix(".h.pch" if self.clang else ".h.gch")
        with self.once(header):
            if not made.exists():
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(text)
                options = ["-fpch-instantiate-templates"] if self.clang else []
                part = made.with_suffix(".part")
                wrong = self.execute([*self.command, *self.flags, standard, *options, "-x",
                                      "c++-header", header, "-o", part])
                if wrong:
                    raise Problem(f"LibTorch's headers do not compile: {wrong}")
                part.rename(made)
        return ["-include-pch", str(made)] if self.clang else ["-include", str(header)]

    def build(self, program: Program, folder: Path, out: Path) -> str:
        """Builds the program as it is in this folder. Empty, or what is wrong."""
        text = "\n".join((folder / name).read_text() for name in program.files)
        # measure.h includes torch/torch.h.
        measured = "<torch/torch.h>" if program.support else ""
        headers = [name for name in PRECOMPILED if f"<{name}>" in text + measured]
        before = self.precompiled(headers, program.standard)
        # A source is compiled once for all copies in which it and the headers are the same.
        shared = "".join((folder / name).read_text() for name in program.files
                         if name not in program.sources)
        objects = []
        for source in [*[folder / name for name in program.sources], *program.support]:
            words = [*self.command, *self.flags, program.standard, *program.flags, *before]
            key = hashlib.sha256(
                repr([words, source.name, shared, source.read_text()]).encode()).hexdigest()
            compiled = self.work / "objects" / f"{key[:24]}.o"
            with self.once(compiled):
                if not compiled.exists():
                    compiled.parent.mkdir(exist_ok=True)
                    part = compiled.with_suffix(".part")
                    wrong = self.execute([*words, "-c", source, "-o", part])
                    if wrong:
                        return wrong.replace(f"{folder}{os.sep}", "")
                    part.rename(compiled)
            objects.append(compiled)
        return self.link(objects, out, torch=bool(headers))

    def link(self, objects: list[Path], out: Path, torch: bool) -> str:
        libraries: list[str] = []
        if torch:
            lib = self.libtorch / "lib"
            libraries = [f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--allow-shlib-undefined",
                         "-ltorch_cpu", "-lc10"]
        return self.execute([*self.command, *objects, "-o", out, "-pthread", *libraries, "-ldl"])

    def run(self, binary: Path) -> End:
        """Runs it to its end in a folder of its own."""
        folder = binary.parent / f"{binary.name}.run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        # On cores that others use as well, threads that wait for each other take twenty times
        # as long (test/apps/run.py).
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run([binary], cwd=folder, env=environment, capture_output=True,
                                  stdin=subprocess.DEVNULL, text=True, errors="replace",
                                  timeout=self.limit, check=False)
        except subprocess.TimeoutExpired:
            return End(-signal.SIGKILL, "", "", timed_out=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            binary.unlink()
        thrown = THROWN.search(done.stderr)
        exception = f"{thrown[1]}: {thrown[2] or ''}".strip() if thrown else ""
        return End(done.returncode, exception, done.stdout)
