#!/usr/bin/env python3
"""Runs command lines with stock clang-tidy and with torch-tidy, and compares.

    same_as_clang_tidy.py --site SITE.JSON --work FOLDER

Of each case the exit code, standard output, the summary on standard error, and all
files afterwards (fixes that were applied, files that were written) must be the
same. The options of both programs are compared too: torch-tidy must have all that
clang-tidy has, hidden ones included, and no case may be missing for one of them.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

INPUTS = Path(__file__).resolve().parent / "Inputs" / "stock"
FLAGS = ["--", "-std=c++17", "-isystem", "sys"]
NULLPTR = "--checks=-*,modernize-use-nullptr"
BOTH = NULLPTR + ",readability-else-after-return"

# Options of torch-tidy that clang-tidy does not have.
OUR_OPTIONS = {"level", "fail-on", "explain", "no-cache", "cache-dir", "cache-size",
               "explain-cache", "fresh", "shard", "times", "j", "timeout", "libtorch",
               "print-pch-flags", "sarif", "format", "baseline", "write-baseline", "diff",
               "add-nolint", "color", "completions", "show-fixes", "statistics", "stdin-filename",
               "together", "unused-nolints", "watch", "write-shell-files"}
# LLVM's own, the same in every program that uses its command line library.
LLVM_OPTIONS = {"help", "help-hidden", "help-list", "help-list-hidden", "h",
                "print-all-options", "print-options", "version"}

# (name, arguments). A case without "--" in its arguments is given FLAGS.
CASES = [
    ("checks", [NULLPTR, "first.cpp"]),
    ("checks with one dash", ["-checks=-*,modernize-use-nullptr", "first.cpp"]),
    ("checks as two words", ["--checks", "-*,modernize-use-nullptr", "first.cpp"]),
    ("two files", [BOTH, "first.cpp", "second.cpp"]),
    # Clang-tidy counts what it suppresses twice: it analyses the file twice.
    ("same file twice", [NULLPTR, "--quiet", "second.cpp", "./second.cpp"]),
    ("clang-analyzer", ["--checks=-*,clang-analyzer-core.*", "first.cpp"]),
    ("compiler warnings", ["--checks=-*,clang-diagnostic-*", "notes.cpp", "--",
                           "-Wall", "-Wextra"]),
    ("notes", ["--checks=-*,bugprone-*,readability-*,misc-*", "notes.cpp"]),
    ("p", [NULLPTR, "-p", "build", "first.cpp"]),
    ("p with =", [NULLPTR, "-p=build", "first.cpp"]),
    ("database above the source", [NULLPTR, "build/../build/first.cpp"]),
    ("extra-arg", [NULLPTR, "--extra-arg=-DFROM_EXTRA_ARG", "second.cpp"]),
    ("extra-arg with p", [NULLPTR, "--extra-arg=-DFROM_EXTRA_ARG", "-p", "build",
                          "second.cpp"]),
    ("extra-arg-before", [NULLPTR, "--extra-arg-before=-DFROM_EXTRA_ARG", "second.cpp"]),
    ("extra-arg-before, later flag wins",
     [NULLPTR, "--extra-arg-before=-DFROM_EXTRA_ARG", "second.cpp", "--",
      "-UFROM_EXTRA_ARG"]),
    ("header-filter", [NULLPTR, "--header-filter=.*", "first.cpp"]),
    ("header-filter of one", [NULLPTR, "--header-filter=ours", "first.cpp"]),
    ("exclude-header-filter", [NULLPTR, "--header-filter=.*",
                               "--exclude-header-filter=skipped", "first.cpp"]),
    ("system-headers", [NULLPTR, "--header-filter=.*", "--system-headers", "first.cpp"]),
    ("line-filter", [NULLPTR, '--line-filter=[{"name":"first.cpp","lines":[[1,3]]},'
                     '{"name":"second.cpp"}]', "first.cpp", "second.cpp"]),
    ("line-filter that is no JSON", [NULLPTR, "--line-filter=[x", "first.cpp"]),
    ("quiet", [NULLPTR, "--quiet", "first.cpp"]),
    ("quiet with errors", [NULLPTR, "--quiet", "--warnings-as-errors=*", "first.cpp",
                           "broken.cpp"]),
    ("use-color", [NULLPTR, "--use-color", "first.cpp"]),
    ("use-color=false", [NULLPTR, "--use-color=false", "first.cpp"]),
    ("warnings-as-errors", [NULLPTR, "--warnings-as-errors=modernize-*", "first.cpp"]),
    ("warnings-as-errors, another check",
     [NULLPTR, "--warnings-as-errors=bugprone-*", "first.cpp"]),
    ("warnings-as-errors, one", [NULLPTR, "--warnings-as-errors=*", "configured/plain.cpp",
                                 "--config={}"]),
    ("compile errors", [NULLPTR, "broken.cpp"]),
    ("compile errors do not stop the next file", [NULLPTR, "broken.cpp", "first.cpp"]),
    ("fix", [BOTH, "--fix", "first.cpp"]),
    ("fix in headers", [NULLPTR, "--fix", "--header-filter=.*", "first.cpp", "second.cpp"]),
    ("fix with compile errors", [NULLPTR, "--fix", "broken.cpp"]),
    ("fix-errors", [NULLPTR, "--fix-errors", "broken.cpp"]),
    ("fix-notes", ["--checks=-*,readability-*,misc-*,bugprone-*", "--fix-notes",
                   "notes.cpp"]),
    ("format-style", [BOTH, "--fix", "--format-style=llvm", "first.cpp"]),
    ("format-style in line", [BOTH, "--fix",
                              "--format-style={BasedOnStyle: llvm, IndentWidth: 8}",
                              "first.cpp"]),
    ("export-fixes", [BOTH, "--export-fixes=fixes.yaml", "--header-filter=.*",
                      "first.cpp", "second.cpp"]),
    ("export-fixes, nothing found", ["--checks=-*,bugprone-*", "--export-fixes=fixes.yaml",
                                     "configured/inner/inner.cpp"]),
    ("export-fixes, warnings as errors", [NULLPTR, "--export-fixes=fixes.yaml",
                                          "--warnings-as-errors=*", "first.cpp"]),
    ("export-fixes, folder is missing", [NULLPTR, "--export-fixes=no/fixes.yaml",
                                         "first.cpp"]),
    ("list-checks", ["--checks=-*,modernize-*", "--list-checks"]),
    ("list-checks, none", ["--checks=-*", "--list-checks"]),
    ("list-checks, none allowed", ["--checks=-*", "--list-checks", "--allow-no-checks"]),
    ("list-checks of a file", ["--list-checks", "configured/plain.cpp"]),
    ("list-checks, alpha checkers", ["--checks=-*,clang-analyzer-alpha.core.*",
                                     "--allow-enabling-analyzer-alpha-checkers",
                                     "--list-checks"]),
    ("no checks", ["--checks=-*", "first.cpp"]),
    ("allow-no-checks", ["--checks=-*", "--allow-no-checks", "first.cpp"]),
    ("no sources", [NULLPTR, "--"]),
    ("unknown option", [NULLPTR, "--no-such-option", "first.cpp"]),
    ("option without a value", ["first.cpp", "--checks"]),
    (".clang-tidy", ["configured/plain.cpp"]),
    (".clang-tidy, inherited", ["configured/inner/inner.cpp"]),
    (".clang-tidy, several folders", ["configured/inner/inner.cpp",
                                      "configured/plain.cpp"]),
    (".clang-tidy and checks", ["--checks=-modernize-*", "configured/plain.cpp"]),
    (".clang-tidy, formatted fix", ["--fix", "configured/plain.cpp"]),
    ("explain-config", ["--explain-config", "configured/plain.cpp"]),
    ("explain-config, command line", ["--explain-config",
                                      "--checks=-*,modernize-use-using",
                                      "configured/plain.cpp"]),
    ("dump-config", ["--dump-config", NULLPTR, "first.cpp"]),
    ("dump-config of a folder", ["--dump-config", "--checks=-clang-*",
                                 "configured/inner/inner.cpp"]),
    ("config", ["--config={Checks: '-*,modernize-use-nullptr', HeaderFilterRegex: '.*'}",
                "first.cpp"]),
    ("config, empty", ["--config=", "configured/plain.cpp"]),
    ("config, invalid", ["--config={", "first.cpp"]),
    ("config, unknown key", ["--config={Nonsense: 1}", NULLPTR, "first.cpp"]),
    ("config-file", ["--config-file=configured/.clang-tidy", "first.cpp"]),
    ("config-file, missing", ["--config-file=none", "first.cpp"]),
    ("config and config-file", ["--config={}", "--config-file=configured/.clang-tidy",
                                "first.cpp"]),
    ("verify-config", ["--verify-config", NULLPTR, "first.cpp"]),
    ("verify-config of a folder", ["--verify-config", NULLPTR,
                                   "configured/inner/inner.cpp"]),
    ("verify-config, misspelt", ["--verify-config", "--config-file=misspelt.yaml",
                                 NULLPTR, "first.cpp"]),
    ("vfsoverlay", [NULLPTR, "--vfsoverlay=overlay.yaml", "virtual.cpp"]),
    ("vfsoverlay, missing", [NULLPTR, "--vfsoverlay=none", "first.cpp"]),
    ("vfsoverlay, invalid", [NULLPTR, "--vfsoverlay=first.cpp", "first.cpp"]),
    ("response file", ["@arguments.rsp", "first.cpp"]),
    ("enable-module-headers-parsing", [NULLPTR, "--enable-module-headers-parsing",
                                       "first.cpp"]),
    ("store-check-profile", [NULLPTR, "--enable-check-profile",
                             "--store-check-profile=profiles", "first.cpp"]),
    ("load, twice the same option", [NULLPTR, NULLPTR, "first.cpp"]),
    ("missing header of someone else", [NULLPTR, "absent.cpp"]),
    ("empty file", [NULLPTR, "empty.cpp"]),
    ("unknown compiler option", [NULLPTR, "first.cpp", "--", "--no-such-option"]),
]

# What runs where nobody says anything is different on purpose.
DEFAULT_CHECKS = re.compile(r"(?:clang-diagnostic-\*,clang-analyzer-\*|"
                            r"clang-diagnostic-error(?:,torch-[\w-]+)+)")

# Tested elsewhere, because what they do cannot be the same: --load of a plugin that
# cannot be loaded (plugin-load.test), --help and --version (help.test).
OTHER_TESTS = {"load"}

SUMMARY = re.compile(r"^(?:Suppressed|Use -header|Found compiler|Fixes have|"
                     r"clang-tidy applied|torch-tidy: note: \d+ findings? fixed|"
                     r"\d+ warnings? treated|command-line option|"
                     r"===).*$", re.M)


def options_of(command: list[str]) -> set[str]:
    """All options that the program knows, hidden ones included."""
    text = subprocess.run([*command, "--help-list-hidden"], capture_output=True,
                          text=True).stdout
    return set(re.findall(r"^  --?(\w[\w-]*)", text, re.M))


def prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(INPUTS, folder)
    (folder / "empty.cpp").touch()
    (folder / "absent.cpp").write_text("#include <absent.h>\nint *f() { return 0; }\n")
    (folder / "arguments.rsp").write_text("--checks='-*,modernize-use-nullptr'\n--quiet\n")
    (folder / "overlay.yaml").write_text(
        "{'version': 0, 'roots': [{'name': '%s', 'type': 'directory', 'contents': ["
        "{'name': 'virtual.cpp', 'type': 'file', 'external-contents': '%s'}]}]}"
        % (folder, folder / "second.cpp"))
    build = folder / "build"
    build.mkdir()
    shutil.copy(folder / "second.cpp", build / "first.cpp")
    entry = ('{"directory": "%s", "file": "%s", "arguments": '
             '["c++", "-std=c++17", "-isystem", "%s", "-I", "%s", "-c", "%s"]}')
    (build / "compile_commands.json").write_text("[%s]" % ",".join(
        entry % (folder, name, folder / "sys", folder, name)
        for name in ["first.cpp", "second.cpp", folder / "build" / "first.cpp"]))


def comparable(text: str, folder: Path) -> str:
    return DEFAULT_CHECKS.sub("<default checks>", text.replace(str(folder), "<folder>"))


def run(command: list[str], arguments: list[str], folder: Path) -> dict[str, str]:
    prepare(folder)
    if "--" not in arguments and "-p" not in arguments and "-p=build" not in arguments:
        arguments = arguments + FLAGS
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True,
                          text=True, errors="replace")
    result = {
        "exit code": str(done.returncode),
        "standard output": comparable(done.stdout, folder),
        "summary": "\n".join(SUMMARY.findall(comparable(done.stderr, folder))),
    }
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        text = comparable(path.read_text(errors="replace"), folder)
        if name.startswith("profiles/"):
            # Named after the time and filled with times: the checks count.
            name = "profiles/<time>"
            text = "\n".join(sorted(set(re.findall(r"time\.clang-tidy\.([\w-]+)", text))))
        result[name] = text
    return result


def accept_fixed(stock: dict[str, str], ours: dict[str, str]) -> None:
    """It counts findings where clang-tidy counts edits, and says those too. Where none
    remains, none is an error."""
    if re.search(r"fixed by \d+ edits?, 0 remain$", ours["summary"], re.MULTILINE):
        stock["summary"], errors = re.subn(
            r"\n?\d+ warnings? treated as errors?", "", stock["summary"])
        if errors:
            stock["exit code"] = "0"
    ours["summary"] = re.sub(
        r"torch-tidy: note: \d+ findings? fixed by (\d+) edits?, \d+ remains?",
        r"clang-tidy applied \1 of \1 suggested fixes.", ours["summary"])


def accept_usage(stock: dict[str, str], ours: dict[str, str]) -> None:
    """After a command line in error clang-tidy prints all of its help."""
    for side in stock, ours:
        text = side["standard output"]
        if text.startswith(("USAGE:", "OVERVIEW:")):
            side["standard output"] = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", required=True, type=Path, help="test/site.json of the build")
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--only", help="run the cases whose name holds this text")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    site = json.loads(arguments.site.read_text())
    clang_tidy, torch_tidy = [site["clang_tidy"]], [site["torch_tidy"]]

    problems = 0

    def problem(text: str) -> None:
        nonlocal problems
        problems += 1
        print(text)

    stock_options = options_of(clang_tidy)
    our_options = options_of(torch_tidy)
    if len(stock_options) < 20:
        problem(f"cannot read clang-tidy's options: {sorted(stock_options)}")
    for name in sorted(stock_options - our_options):
        problem(f"torch-tidy has no --{name}")
    for name in sorted(our_options - stock_options - OUR_OPTIONS):
        problem(f"torch-tidy has --{name}, which clang-tidy does not have")
    tried = {match[1] for _, words in CASES for word in words
             if (match := re.match(r"--?(\w[\w-]*)", word))}
    for name in sorted(stock_options - LLVM_OPTIONS - OTHER_TESTS - tried):
        problem(f"no case tries --{name}")

    cases = [case for case in CASES if not arguments.only or arguments.only in case[0]]
    for name, words in cases:
        # One folder for both, one after the other: paths are part of the output.
        stock = run(clang_tidy, words, work)
        # torch-tidy shows findings in the user's headers where nothing says otherwise,
        # and goes by the .clang-tidy of the file where clang-tidy 19 goes by that of
        # the working directory.
        line = " ".join(words)
        says = re.search("header-filter|HeaderFilter|--config-file|dump-config.*configured", line)
        ours = run(torch_tidy, words if says else ["--header-filter=", *words], work)
        accept_usage(stock, ours)
        accept_fixed(stock, ours)
        for key in sorted(stock.keys() | ours.keys()):
            if stock.get(key) != ours.get(key):
                problem(f"case '{name}': {key} differs\n"
                        f"--- clang-tidy\n{stock.get(key)}\n"
                        f"--- torch-tidy\n{ours.get(key)}\n---")
    print(f"{len(cases)} command lines, {problems} problems")
    return 1 if problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
