"""What a build of torch-tidy offers: the program, LibTorch's flags, system folders."""

import fnmatch
import hashlib
import json
import os
import subprocess
import threading
from pathlib import Path

# Packages that install their headers below a folder of their own.
PACKAGE_FOLDERS = ["/usr/include/opencv4", "/usr/include/eigen3", "/usr/include/jsoncpp",
                   "/usr/include/hdf5/serial", "/usr/include/python3.11"]


class ToolchainError(Exception):
    """The build cannot be used; the text says what to do."""


class Toolchain:
    def __init__(self, build: Path, torch_tidy: Path | None, stubs: Path, use_pch: bool) -> None:
        site_file = build / "test" / "site.json"
        try:
            site = json.loads(site_file.read_text())
            self.torch_tidy = Path(torch_tidy or site["torch_tidy"]).absolute()
            self.torch_flags = [flag for flag in site["torch_flags"]
                                if not flag.startswith("-std=")]
            self.clang = site["clang"]
            pch = Path(site["pch"])
        except OSError as error:
            raise ToolchainError(f"no '{site_file}': configure and build the project first, or "
                                 "name its build folder with --build") from error
        except (ValueError, KeyError) as error:
            raise ToolchainError(f"'{site_file}' is damaged ({error}): configure anew") from error
        if not os.access(self.torch_tidy, os.X_OK):
            raise ToolchainError(f"no program '{self.torch_tidy}': build it, or name one with "
                                 "--torch-tidy")
        self._header = Path(site["source"]) / "support" / "TorchPch.h"
        self._pch = {17: pch} if use_pch and pch.exists() else {}
        self._pch_lock = threading.Lock()
        self.stubs = stubs
        self.package_folders = [folder for folder in PACKAGE_FOLDERS if os.path.isdir(folder)]
        self.system_folders = self._system_folders()
        self.all_checks = self._list_checks()
        self._program = hashlib.sha256(self.torch_tidy.read_bytes()).hexdigest()
        self._stub_contents = self._digest_stubs()

    def checks(self, globs: str) -> list[str]:
        """The registered checks that a comma-separated list selects, in order."""
        chosen: set[str] = set()
        for glob in globs.split(","):
            glob = glob.strip()
            removes = glob.startswith("-")
            found = set(fnmatch.filter(self.all_checks, glob.lstrip("-")))
            if not found:
                raise ToolchainError(f"no check of torch-tidy matches '{glob}'; there are "
                                     + ", ".join(self.all_checks))
            chosen = chosen - found if removes else chosen | found
        if not chosen:
            raise ToolchainError(f"'{globs}' leaves no check")
        return sorted(chosen)

    def flags(self, standard: int, with_stubs: bool, with_pch: bool) -> list[str]:
        """Compiler flags that do not depend on the checkout."""
        flags = [f"-std=c++{standard}"]
        pch = self.pch(standard) if with_pch else None
        if pch:
            flags += ["-include-pch", str(pch)]
        flags += self.torch_flags
        for folder in self.package_folders:
            flags += ["-isystem", folder]
        if with_stubs:
            # Behind all others: a stub stands in only for what is not there.
            flags += ["-idirafter", str(self.stubs), "-include", str(self.stubs / "std_fix.h")]
        return flags

    def finds(self, name: str) -> bool:
        """Whether <name> is a header of the system, a package, or LibTorch."""
        return any(os.path.isfile(os.path.join(folder, name)) for folder in self.system_folders)

    def _system_folders(self) -> list[str]:
        run = self._output([self.clang, "-E", "-v", "-x", "c++", "/dev/null", *self.torch_flags],
                           "clang++ cannot be run")
        folders, listed = [], False
        for line in run.stderr.splitlines():
            if line.startswith("#include "):
                listed = True
            elif line.startswith("End of search list"):
                listed = False
            elif listed:
                folders.append(line.strip())
        return folders + self.package_folders

    def _list_checks(self) -> list[str]:
        run = self._output([str(self.torch_tidy), "--list-checks", "--config={}",
                            "--checks=-*,torch-*"], "torch-tidy cannot list its checks")
        return sorted(line.strip() for line in run.stdout.splitlines() if line.startswith("    "))

    def pch(self, standard: int) -> Path | None:
        """The precompiled headers for this standard, or None. The build has C++17's."""
        with self._pch_lock:
            if self._pch and standard not in self._pch:
                self._pch[standard] = self._precompile(standard)
            return self._pch.get(standard)

    def _precompile(self, standard: int) -> Path:
        base = self._pch[17]
        file = base.with_name(f"torch-c++{standard}.pch")
        if not file.exists() or file.stat().st_mtime < base.stat().st_mtime:
            temporary = file.with_suffix(f".{os.getpid()}")
            self._output([self.clang, f"-std=c++{standard}", *self.torch_flags,
                          "-fpch-instantiate-templates", "-x", "c++-header", str(self._header),
                          "-o", str(temporary)], "LibTorch cannot be precompiled", 900)
            temporary.replace(file)
        return file

    def identity(self, standard: int, with_stubs: bool, with_pch: bool) -> str:
        """What results depend on beside the checkout and the command."""
        parts = [self._program]
        pch = self.pch(standard) if with_pch else None
        if pch:
            stat = pch.stat()
            parts.append(f"{stat.st_size} {stat.st_mtime_ns}")
        if with_stubs:
            parts.append(self._stub_contents)
        return " ".join(parts)

    def _digest_stubs(self) -> str:
        digest = hashlib.sha256()
        for stub in sorted(self.stubs.rglob("*")):
            if stub.is_file():
                digest.update(str(stub.relative_to(self.stubs)).encode() + stub.read_bytes())
        return digest.hexdigest()

    @staticmethod
    def _output(command: list[str], what: str,
                timeout: int = 120) -> subprocess.CompletedProcess[str]:
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                 timeout=timeout, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(f"{what}: {error}") from error
        if run.returncode != 0:
            raise ToolchainError(f"{what}: {' '.join(command)}: exit code {run.returncode}: "
                                 + run.stderr.strip()[-400:])
        return run
