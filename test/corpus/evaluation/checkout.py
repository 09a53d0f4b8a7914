"""A checkout: its sources, which of them include LibTorch, and their include folders."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .toolchain import Toolchain

SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C")
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".H", ".ipp", ".inl", ".tpp", ".cuh")
TORCH = ("torch/", "ATen/", "c10/")
# What the precompiled headers hold in full; other headers of LibTorch are parsed.
PRECOMPILED = ("torch/torch.h", "torch/all.h", "torch/script.h", "torch/extension.h",
               "torch/nn.h", "torch/types.h", "torch/data.h", "torch/optim.h")
# Folders that projects put on the include path.
INCLUDE_FOLDERS = {"include", "includes", "inc", "src", "source", "third_party", "thirdparty",
                   "3rdparty", "external", "extern", "vendor", "vendors", "lib", "libs", "deps"}
# A folder with one of these is searched for "..." only, or <...> would find them.
STANDARD_HEADERS = {name + ".h" for name in (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math memory setjmp "
    "signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings tgmath "
    "threads time uchar unistd wchar wctype").split()}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
NEW_STANDARD = re.compile(r"(?:std=\w\+\+|std:c\+\+|cxx_std_|CXX_STANDARD\s+|stdcpp|cpp_std=c\+\+)"
                          r"\s*(?:20|23|2[abc])", re.IGNORECASE)
BUILD_FILES = re.compile(r"(?:CMakeLists\.txt|\.cmake|\.bazel|\.bazelrc|Makefile|\.vcxproj|"
                         r"meson\.build|\.pro|CMakePresets\.json|BUILD)$")


class CheckoutError(Exception):
    """There is no such checkout."""


def is_header(path: str) -> bool:
    return path.endswith(HEADERS)


class Checkout:
    def __init__(self, repository: str, directory: Path) -> None:
        self.repository = repository
        root = directory / repository.replace("/", "+")
        if not root.is_dir():
            raise CheckoutError(f"no checkout of {repository}: no folder '{root}'")
        self.root = root.resolve()
        self.commit = self._commit()
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.new_standard = False
        self._toolchain: Toolchain
        self._includes: dict[str, list[tuple[str, str]]] = {}
        self._reached: dict[str, Reached] = {}
        self._by_name: dict[str, list[str]] = {}
        self._units_of: dict[str, list[tuple[int, str]]] | None = None

    def scan(self, toolchain: Toolchain) -> None:
        """Lists the files. To be called before anything below."""
        self._toolchain = toolchain
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = sorted(name for name in subfolders if name != ".git")
            relative = os.path.relpath(folder, self.root).replace(os.sep, "/")
            relative = "" if relative == "." else relative
            self.folders.add(relative)
            for name in names:
                path = posixpath.join(relative, name)
                self.files.add(path)
                self._by_name.setdefault(name, []).append(path)
                if not self.new_standard and BUILD_FILES.search(name):
                    self.new_standard = bool(NEW_STANDARD.search(self._read(path)))

    def torch_units(self) -> list[str]:
        """Translation units that include LibTorch, and headers with it that none includes."""
        units = [path for path in self.files if path.endswith(SOURCES)
                 and self.reached(path).torch]
        reached = {header for unit in units for header in self.reached(unit).headers}
        alone = [path for path in self.files if is_header(path) and path not in reached
                 and not path.endswith(".cuh") and self._names_torch(path)]
        inner = {header for path in alone for header in self.reached(path).headers}
        return sorted(units + [path for path in alone if path not in inner])

    def units_that_include(self, header: str) -> list[str]:
        """The units that include this header, the closest first."""
        if self._units_of is None:
            self._units_of = {}
            for unit in sorted(path for path in self.files if path.endswith(SOURCES)):
                for path, depth in self.reached(unit).headers.items():
                    self._units_of.setdefault(path, []).append((depth, unit))
        folder = posixpath.dirname(header)
        stem = posixpath.splitext(header)[0]
        found = self._units_of.get(header, [])
        return [unit for _, unit in sorted(found, key=lambda entry: (
            posixpath.splitext(entry[1])[0] != stem, entry[0],
            _distance(folder, posixpath.dirname(entry[1])), entry[1]))]

    def include_flags(self, unit: str) -> list[str]:
        flags = []
        for folder in self.reached(unit).folders:
            flags += [self._include_option(folder), str(self.root / folder)]
        return flags

    def content(self, unit: str) -> Iterator[bytes]:
        """The bytes that an analysis of this unit depends on, within the checkout."""
        for path in [unit, *sorted(self.reached(unit).headers)]:
            yield path.encode()
            yield (self.root / path).read_bytes()

    def reached(self, unit: str) -> Reached:
        """What the unit includes, found by text: conditional includes count."""
        if unit not in self._reached:
            self._reached[unit] = self._reach(unit)
        return self._reached[unit]

    def _reach(self, unit: str) -> Reached:
        reached = Reached(self._search_folders(unit))
        waiting = [(unit, 0)]
        seen = {unit}
        while waiting:
            path, depth = waiting.pop(0)
            for bracket, name in self._includes_of(path):
                target = self._resolve(unit, path, bracket, name, reached)
                if target is None:
                    if name.startswith(TORCH):
                        reached.torch = True
                        reached.precompiled |= name in PRECOMPILED
                elif target not in seen:
                    seen.add(target)
                    reached.headers[target] = depth + 1
                    waiting.append((target, depth + 1))
        return reached

    def _resolve(self, unit: str, path: str, bracket: str, name: str,
                 reached: Reached) -> str | None:
        """The file of the checkout that is meant. Adds a folder where none leads to it."""
        name = name.strip().replace("\\", "/")
        if bracket == '"':
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if beside in self.files:
                return beside
        for folder in reached.folders:
            target = posixpath.normpath(posixpath.join(folder, name))
            if target in self.files and (bracket == '"' or not self._shadows(folder)):
                return target
        if name.startswith(TORCH) or self._toolchain.finds(name):
            return None
        folders = [path[:-len(name)].rstrip("/")
                   for path in self._by_name.get(posixpath.basename(name), [])
                   if path == name or path.endswith("/" + name)]
        if not folders:
            return None
        origin = posixpath.dirname(unit)
        folder = min(folders, key=lambda entry: (_distance(origin, entry), entry))
        reached.folders.append(folder)
        return posixpath.join(folder, name)

    def _search_folders(self, unit: str) -> list[str]:
        """The unit's folder, the root, and all that are named like include folders."""
        own = posixpath.dirname(unit)
        named = [folder for folder in self.folders
                 if posixpath.basename(folder).lower() in INCLUDE_FOLDERS]
        named.sort(key=lambda folder: (_distance(own, folder), folder))
        folders = [own] + named + [""]
        return list(dict.fromkeys(folders))

    def _include_option(self, folder: str) -> str:
        return "-iquote" if self._shadows(folder) else "-I"

    def _shadows(self, folder: str) -> bool:
        for name in self._names_in(folder):
            if name in STANDARD_HEADERS or (
                    "." not in name and self._toolchain.finds(name)):
                return True
        return False

    def _names_in(self, folder: str) -> list[str]:
        try:
            return os.listdir(self.root / folder)
        except OSError:
            return []

    def _names_torch(self, path: str) -> bool:
        return any(name.startswith(TORCH) for _, name in self._includes_of(path))

    def _includes_of(self, path: str) -> list[tuple[str, str]]:
        if path not in self._includes:
            self._includes[path] = INCLUDE.findall(self._read(path))
        return self._includes[path]

    def _read(self, path: str) -> str:
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _commit(self) -> str | None:
        if not (self.root / ".git").exists():
            return None
        run = subprocess.run(["git", "-C", str(self.root), "rev-parse", "HEAD"],
                             capture_output=True, text=True, check=False)
        return run.stdout.strip() if run.returncode == 0 else None


class Reached:
    """What one unit includes."""

    def __init__(self, folders: list[str]) -> None:
        self.folders = folders
        self.headers: dict[str, int] = {}  # to how many includes away
        self.torch = False
        self.precompiled = False


def _distance(origin: str, folder: str) -> int:
    """Steps from one folder to the other."""
    left = origin.split("/") if origin else []
    right = folder.split("/") if folder else []
    common = len(posixpath.commonprefix([left, right]))
    return len(left) - common + len(right) - common
