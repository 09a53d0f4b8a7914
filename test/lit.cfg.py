# The lit tests of torch-tidy. Substitutions beside lit's own:
#
#   %check_torch   test/support/check_torch.py, which says how to use it
#   %torch_tidy    the driver
#   %torch_clangd  the language server
#   %torch_confirm torch-confirm; %probe_cache: where all tests keep its probe
#   %clang_tidy    stock clang-tidy with the plugin loaded
#   %plugin        the plugin
#   %torch_flags   what the compiler needs for LibTorch (after "--")
#   %pch_flags     the precompiled LibTorch headers (after "--")
#   %torch_root    the folder of LibTorch
#   %libtorch_root the folder above it, which holds torchgen/ where a wheel is used
#   %source_root   the source tree
#   %build_root    the build tree
#   %python, %cmake, %lit
#   %locale        env with the variables of the locale that lit was started in: ccache counts them
#   %quick_cxx     a compiler for many programs: Clang, where it is whole, takes a third of
#                  GCC's time on LibTorch's headers
import glob
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from typing import Any

import lit.formats

# lit defines it before it runs this file.
config: Any = globals()["config"]
site = config.site

config.name = "torch-tidy"
# A real shell: tests of command lines use subshells, redirections and exit codes.
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".cpp", ".test"]
# Folders without lit tests: programs, GoogleTest sources, inputs of tests.
config.excludes = ["apps", "folk", "fuzz", "growth", "mutation", "programs", "proof", "scenarios",
                   "unit", "support", "tidy", "Inputs"]
config.test_source_root = site["source"]
config.test_exec_root = site["binary"]

source_root = os.path.dirname(site["source"])
build_root = os.path.dirname(site["binary"])


def command(*words: str) -> str:
    return " ".join(shlex.quote(word) for word in words)


def quick_cxx() -> str:
    """Clang, where its AddressSanitizer is installed, else what CMake takes by itself."""
    clang = shutil.which("clang++-19")
    program = "int main() {}"
    if clang and subprocess.run(
            [clang, "-x", "c++", "-fsanitize=address", "-o", os.devnull, "-"],
            input=program, text=True, capture_output=True).returncode == 0:
        return clang
    return os.environ.get("CXX", "c++")


LOCALE = ["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"]
config.substitutions += [
    ("%check_torch", command(site["python"],
                             os.path.join(site["source"], "support", "check_torch.py"),
                             "--site", os.path.join(site["binary"], "site.json"))),
    ("%torch_tidy", command(site["torch_tidy"])),
    ("%torch_clangd", command(site["torch_clangd"])),
    ("%torch_confirm", command(os.path.join(build_root, "bin", "torch-confirm"))),
    ("%probe_cache", command(os.path.join(site["binary"], "probe-cache"))),
    ("%clang_tidy", command(site["clang_tidy"], "-load=" + site["plugin"])),
    ("%plugin", command(site["plugin"])),
    ("%torch_flags", command(*site["torch_flags"])),
    ("%pch_flags", command("-include-pch", site["pch"])),
    ("%torch_root", command(site["torch_root"])),
    ("%libtorch_root", command(os.path.dirname(site["torch_root"]))),
    ("%source_root", command(source_root)),
    ("%build_root", command(build_root)),
    ("%locale", command("env", *(f"-u{name}" for name in LOCALE if name not in os.environ),
                        *(f"{name}={os.environ[name]}" for name in LOCALE
                          if name in os.environ))),
    ("%python", command(site["python"])),
    ("%cmake", command(site["cmake"])),
    ("%lit", command(site["lit"])),
    ("%quick_cxx", command(quick_cxx())),
]

# FileCheck, not, count, split-file.
config.environment["PATH"] = os.pathsep.join(
    [site["llvm_tools"], os.environ.get("PATH", "")])
# A user's locale changes no test; ccache and the cache of LibTorch stay usable.
config.environment["LC_ALL"] = "C.UTF-8"
for name in ["TORCH_TIDY_CACHE", "XDG_CACHE_HOME", "TORCH_TIDY_TEST_FRONTEND",
             "TORCH_TIDY_TEST_NO_PCH", "TORCH_TIDY_TEST_SAMPLE", "PIP_CONFIG_FILE"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Tests against hosts of other versions run where these are installed.
for version in range(14, 23):
    if version != 19 and shutil.which(f"clang-tidy-{version}"):
        config.available_features.add(f"clang-tidy-{version}")
# The LibTorch that the operation table is made from; others have other operations.
with open(os.path.join(source_root, "third_party", "libtorch-requirements.txt")) as pins:
    pinned = "torch==" + site["torch_version"] in pins.read().split()
if pinned and os.path.isdir(os.path.join(os.path.dirname(site["torch_root"]), "torchgen")):
    config.available_features.add("torchgen")
if os.geteuid() != 0:
    config.available_features.add("not-root")
elif shutil.which("debootstrap"):
    # It has to make devices and to mount, which not every container may.
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.mknod(os.path.join(folder, "null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
            os.mkdir(os.path.join(folder, "proc"))
            subprocess.run(["mount", "-t", "proc", "proc", "proc"], cwd=folder,
                           capture_output=True, check=True)
            subprocess.run(["umount", "proc"], cwd=folder, check=True)
            config.available_features.add("debootstrap")
        except (OSError, subprocess.CalledProcessError):
            pass
for program in ["git", "hyperfine", "meson", "nvim"]:
    if shutil.which(program):
        config.available_features.add(program)
if shutil.which("emacs") and glob.glob("/usr/share/emacs/site-lisp/elpa/eglot-*"):
    config.available_features.add("eglot")
# Others fetch what they need.
if shutil.which("bazel") and os.path.exists("/usr/share/bazel/install_base_key"):
    config.available_features.add("bazel-bootstrap")
for framework, header in [("doctest", "doctest/doctest.h"), ("catch2", "catch2/catch.hpp")]:
    if os.path.exists(os.path.join("/usr/include", header)):
        config.available_features.add(framework)
