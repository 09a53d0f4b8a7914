#!/usr/bin/env python3
"""Runs the modes of Inputs/confirm/harm alone and under torch-confirm: what comes out of the
program, what it leaves and how it ends is the same, and the report comes.

    confirm_harm.py build|modes|signals|terminal|limits WORK --torch-confirm FILE --cache-dir FOLDER
        [--cmake FILE --torch FOLDER --cxx FILE]
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "Inputs" / "confirm" / "harm"
SOURCE = INPUTS / "harm.cpp"
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import cmake_build  # noqa: E402
import job  # noqa: E402

Finished = subprocess.CompletedProcess[bytes]

ENDS = ["return", "abort", "_exit", "segv", "kill", "throw", "static", "quick_exit", "atexit",
        "altstack", "alarm"]
THREADS = ["thread-segv", "thread-throw", "thread-exit", "main-leaves", "threads", "small-stack",
           "context"]
PROCESSES = ["fork", "_Fork", "fork-segv", "exec", "exec-again", "exec-clear", "vfork", "spawn",
             "system", "popen", "daemon"]
WITHOUT = ["closed", "no-files", "file-size", "address-space", "folder", "root", "user",
           "environment", "sandbox"]
OTHERS = ["numbers", "timer"]
WITH_ALLOCATOR = ["return", "throw", "threads", "fork"]

CONFIRMED = "1 confirmed, 0 refuted, 1 not reached"


def findings() -> str:
    """As clang-tidy prints them."""
    lines = SOURCE.read_text().splitlines()
    planted = {"kept": "torch-retained-graph", "never": "torch-allocation-in-loop"}
    return "".join(f"{SOURCE}:{number}:5: warning: planted [{check}]\n"
                   for comment, check in planted.items()
                   for number, line in enumerate(lines, 1) if line.endswith("// " + comment))


def plain(errors: bytes) -> list[str]:
    """Without torch-confirm's own lines, and without the frames that LibTorch prints with an
    exception: there is one more, and their addresses differ."""
    return [line for line in errors.decode().splitlines()
            if not line.startswith(("torch-confirm:", "frame #"))]


class Test:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.work, self.failed = arguments.work.resolve(), 0
        self.build = self.work / "build"
        self.harm = self.build / "harm"
        self.scratch = self.work / "scratch"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.findings = self.scratch / "findings.txt"
        self.findings.write_text(findings())
        self.confirm = [os.path.abspath(arguments.torch_confirm), "run", "--cache-dir",
                        arguments.cache_dir, "--findings", str(self.findings)]
        self.report = self.scratch / "report"

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else ': ' + str(more)}", flush=True)

    def watched(self, *words: object, options: Sequence[object] = ()) -> list[str]:
        """The command; its report goes into a file."""
        self.report.unlink(missing_ok=True)
        return [str(word) for word in
                [*self.confirm, "--output", self.report, *options, "--", *words]]

    def check_report(self, name: str, expected: str = CONFIRMED) -> None:
        report = self.report.read_text() if self.report.exists() else "none"
        self.check(f"{name}: report", expected in report
                   and ("40 iterations" in report or expected != CONFIRMED), report)

    def same(self, name: str, *words: object, expected: str = CONFIRMED,
             options: Sequence[object] = (), **how: Any) -> Finished:
        """The program alone, and under torch-confirm."""
        left = self.scratch / "file"
        runs, files = [], []
        for command in [[str(word) for word in words], self.watched(*words, options=options)]:
            left.unlink(missing_ok=True)
            runs.append(subprocess.run(command, capture_output=True, timeout=300,
                                       cwd=self.scratch, **how))
            files.append(left.stat().st_size if left.exists() else None)
        alone, watched = runs
        self.check(f"{name}: ends with {alone.returncode}",
                   alone.returncode == watched.returncode, watched)
        self.check(f"{name}: output", alone.stdout == watched.stdout,
                   (alone.stdout[-300:], watched.stdout[-300:]))
        self.check(f"{name}: errors", plain(alone.stderr) == plain(watched.stderr),
                   (alone.stderr, watched.stderr))
        self.check(f"{name}: files", files[0] == files[1], files)
        self.check_report(name, expected)
        return watched


def modes(test: Test) -> None:
    for mode in [*ENDS, *THREADS, *PROCESSES, *WITHOUT, *OTHERS]:
        argument = test.scratch / ("root" if mode == "root" else "file")
        (test.scratch / "root").mkdir(exist_ok=True)
        test.same(mode, test.harm, mode, argument)
        # The busiest process is the child, and that has not run the line.
        if mode in ["fork", "fork-segv"]:
            test.check(f"{mode}: whose verdict it is", re.search(
                r"40 iterations.*; in process \d+ ", test.report.read_text()) is not None,
                test.report.read_text())
    for mode in WITH_ALLOCATOR:
        test.same(f"{mode}, an allocator of its own", test.build / "harm-malloc", mode)
    for mode in ["return", "threads"]:
        test.same(f"{mode}, a preloaded allocator", test.harm, mode,
                  env={**os.environ, "LD_PRELOAD": str(test.build / "liballocator.so")})
    test.same("echo", test.harm, "echo", input=b"one\ntwo\n")
    starters(test)
    surroundings(test)
    output(test)


def starters(test: Test) -> None:
    """What starts the program is not the program."""
    script, bare = test.scratch / "train.sh", test.scratch / "bare"
    script.write_text(f"#!/bin/sh\necho first\n{test.harm} return\necho $?\nkill -9 $$\n")
    bare.write_text(f"echo bare \"$@\"\nexec {test.harm} abort\n")
    for each in [script, bare]:
        each.chmod(0o755)
    program = ["--program", test.harm]
    test.same("a script", script, options=program)
    # Python knows no script without its first line, shells do.
    test.same("a script that does not say of what", "/bin/sh", bare, "word", options=program)
    run = subprocess.run(test.watched(bare, "word", options=program), capture_output=True,
                         text=True)
    test.check("as a shell runs it", run.returncode == -signal.SIGABRT
               and run.stdout.startswith("bare word\nsum "), run)
    test.same("env", "/usr/bin/env", "X=1", test.harm, "segv", options=program)
    run = subprocess.run(test.watched("/bin/echo", "nothing", options=program),
                         capture_output=True, text=True)
    test.check("a script that does not start it", run.returncode == 2
               and f"recorded nothing of '/bin/echo', which ended with 0; does it start "
               f"'{test.harm}'?" in run.stderr, run)
    run = subprocess.run(test.watched(script), capture_output=True, text=True)
    test.check("--program is named", run.returncode == 2 and "--program=FILE" in run.stderr, run)


def surroundings(test: Test) -> None:
    """What a program inherits."""
    def ignoring() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])
        os.umask(0o27)
        os.nice(3)

    test.same("state", test.harm, "state")
    ours = os.open("/dev/null", os.O_RDONLY)
    test.same("another state", test.harm, "state", preexec_fn=ignoring, pass_fds=[ours],
              env={"OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": "", "ODD": "a=b\n"})
    test.same("SIGCHLD ignored", test.harm, "segv", preexec_fn=ignoring)
    os.close(ours)


    # This is asked for, and is what the probe does to a program.
    for value, shown in [("0", "deterministic 00"), ("1", "deterministic 11")]:
        run = subprocess.run(test.watched(test.harm, "deterministic"), capture_output=True,
                             text=True, env={**os.environ, "TORCH_CONFIRM_DETERMINISTIC": value})
        test.check(f"TORCH_CONFIRM_DETERMINISTIC={value}", shown in run.stdout, run)


def output(test: Test) -> None:
    for name, command in [("alone", [str(test.harm), "output"]),
                          ("watched", test.watched(test.harm, "output"))]:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout
        first, number, last = process.stdout.readline(), 0, b""
        while part := process.stdout.read(1 << 20):
            number, last = number + len(part), part
        test.check(f"a GB, {name}", process.wait() == 0 and first == b"sum 49920.000000\n"
                   and number > 1 << 30 and last.endswith(b"work 163840.000000 2016.000000\n"),
                   (process.returncode, number, last[-80:]))
    test.check_report("a GB")
    # Who reads it goes.
    for name, command in [("alone", [str(test.harm), "pipe"]),
                          ("watched", test.watched(test.harm, "pipe"))]:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout
        process.stdout.readline()
        process.stdout.close()
        test.check(f"a closed pipe, {name}", process.wait(60) == -signal.SIGPIPE,
                   process.returncode)
    test.check_report("a closed pipe")
    # Who reads it is told when the program closes it, not when torch-confirm ends.
    there = test.scratch / "there"
    for name, command in [("alone", [str(test.harm), "close-output", str(there)]),
                          ("watched", test.watched(test.harm, "close-output", there))]:
        there.unlink(missing_ok=True)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        assert process.stdout
        text = process.stdout.read()
        there.touch()
        test.check(f"output is closed early, {name}", process.wait(60) == 0
                   and text.endswith(b"closing\n"), (process.returncode, text))
    test.check_report("output is closed early")
    # But what goes to standard output of its own does.
    run = subprocess.run([*test.confirm, "--output", "/dev/stdout", "--", test.harm],
                         capture_output=True, text=True)
    test.check("--output=/dev/stdout", run.stdout.startswith("sum")
               and CONFIRMED in run.stdout, run)


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """In a group of its own, once it is ready. A shell ignores SIGINT for what runs in its
    background, as tests may."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout
    while process.stdout.readline() not in [b"ready\n", b""]:
        pass
    return process


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    try:
        output, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return process.returncode, output


def signals(test: Test) -> None:
    def sent(*all_of: tuple[Callable[[int, int], None], int]) \
            -> Callable[[subprocess.Popen[bytes]], tuple[int, bytes]]:
        def send(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
            said = b""
            for number, (how, which) in enumerate(all_of):
                if number:  # when the one before was noted
                    assert process.stdout
                    said += process.stdout.readline()
                how(process.pid, which)
            code, rest = finish(process)
            return code, said + rest
        return send

    one, group = os.kill, os.killpg
    for name, mode, send in [
            ("SIGTERM to one", "wait", sent((one, signal.SIGTERM))),
            ("SIGINT to one", "wait", sent((one, signal.SIGINT))),
            ("SIGUSR1 to one", "wait", sent((one, signal.SIGUSR1))),
            ("SIGINT to the group", "wait", sent((group, signal.SIGINT))),
            ("SIGINT to the group, twice", "told",
             sent((group, signal.SIGINT), (group, signal.SIGINT))),
            ("SIGTERM to one, twice", "told",
             sent((one, signal.SIGTERM), (one, signal.SIGTERM))),
            ("SIGTERM to the group, then to one", "told",
             sent((group, signal.SIGTERM), (one, signal.SIGTERM))),
            ("SIGUSR1 and SIGHUP", "told",
             sent((one, signal.SIGUSR1), (group, signal.SIGHUP), (one, signal.SIGHUP)))]:
        alone = send(start([str(test.harm), mode]))
        watched = send(start(test.watched(test.harm, mode)))
        test.check(f"{name}: {alone}", alone == watched, watched)
        test.check_report(name)
    # Who kills torch-confirm means the program, whose output then ends.
    process = start(test.watched(test.harm, "wait"))
    process.kill()
    test.check("SIGKILL to torch-confirm", finish(process) == (-signal.SIGKILL, b""), process)


def terminal(test: Test) -> None:
    for name, mode, keys in [
            ("Ctrl-C", "wait", [("ready", "\x03")]),
            ("Ctrl-C, twice", "told", [("ready", "\x03"), ("told 2", "\x03")]),
            ("Ctrl-\\", "wait", [("ready", "\x1c")]),
            ("Ctrl-Z, then Ctrl-C", "wait", [("ready", "\x1a"), ("[goes on]", "\x03")]),
            ("Ctrl-Z, twice", "wait", [("ready", "\x1a"), ("[goes on]", "\x1a"),
                                       ("[goes on]", "\x03")]),
            ("it stops itself", "stop", []),
            ("state", "state", []),
            ("Ctrl-D", "echo", [("sum", "one\n"), ("out one", "\x04")])]:
        alone = job.run([str(test.harm), mode], keys)
        watched = job.run(test.watched(test.harm, mode), keys)
        watched = "\n".join(line for line in watched.splitlines()
                            if not line.startswith("torch-confirm:"))
        test.check(f"{name}: {alone.splitlines()[-1]}",
                   alone.splitlines() == watched.splitlines(), (alone, watched))
        test.check_report(name)


def limits(test: Test) -> None:
    for text in ["0", "-1", "soon", "inf", "nan", "1e99", "5s", ""]:
        if text:
            run = subprocess.run(test.watched(test.harm, options=[f"--timeout={text}"]),
                                 capture_output=True, text=True)
            test.check(f"--timeout={text}", run.returncode == 2 and f"--timeout='{text}' is no "
                       "number of seconds above 0, such as 600 or 2.5" in run.stderr
                       and not run.stdout, run)
    test.same("--timeout=600", test.harm, "throw", options=["--timeout=600"])
    for mode, ready in [("wait", "ready\n"), ("told", "told 15\n"), ("orphan", "ready\n")]:
        mine = f"of {os.getpid()}"
        run = subprocess.run(test.watched(test.harm, mode, mine, options=["--timeout=1.5"]),
                             capture_output=True, text=True)
        test.check(f"--timeout: {mode}", run.returncode == 124 and ready in run.stdout, run)
        test.check_report(f"--timeout: {mode}")
        report = test.report.read_text()
        test.check(f"--timeout: {mode}: report", "did not end in time (--timeout) and was ended"
                   in report and "what it did until then" in report, report)
        # Also what was started by what has ended, and what does not listen.
        there = [path for path in Path("/proc").glob("[0-9]*/cmdline")
                 if mine.encode() in read(path)]
        test.check(f"--timeout: {mode}: all are ended", not there, there)
    tools = test.scratch / "tools"
    tools.mkdir()
    (tools / "c++").symlink_to(shutil.which("c++") or "/usr/bin/c++")
    run = subprocess.run(test.watched(test.harm), capture_output=True, text=True,
                         env={"PATH": str(tools), "OMP_NUM_THREADS": "1"})
    test.check("no symbolizer", run.returncode == 2 and not run.stdout
               and "neither llvm-symbolizer nor addr2line was found" in run.stderr, run)
    # Where nothing can be recorded is said before anything runs.
    for name, folder, message in [
            ("no TMPDIR", test.scratch / "none", "TMPDIR names no folder"),
            ("a TMPDIR for reading", Path("/proc"), "TMPDIR says where else")]:
        run = subprocess.run(test.watched(test.harm), capture_output=True, text=True,
                             env={**os.environ, "TMPDIR": str(folder)})
        test.check(name, run.returncode == 2 and message in run.stderr and not run.stdout, run)
    run = subprocess.run(
        test.watched(test.harm), capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    test.check("small files only", run.returncode == 2 and not run.stdout
               and "files may be of 2 MB at most here (ulimit -f)" in run.stderr, run)
    # A script that allows the program small files only: it runs, and nothing is recorded.
    script = test.scratch / "small.sh"
    script.write_text(f"#!/bin/sh\nulimit -f 8\nexec {test.harm} return\n")
    script.chmod(0o755)
    run = subprocess.run(test.watched(script, options=["--program", test.harm]),
                         capture_output=True, text=True)
    test.check("small files in a script", run.stdout == "sum 49920.000000\n"
               and run.returncode == 2 and "which ended with 2" in run.stderr, run)
    full_disk(test)


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def full_disk(test: Test) -> None:
    small = test.scratch / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=4m none '{small}'"
    unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run(
            [*unshare, mount], capture_output=True).returncode != 0:
        print("no file system can be mounted here")
        return
    run = subprocess.run([*unshare, f'{mount} && TMPDIR=\'{small}\' exec "$0" "$@"',
                          *test.watched(test.harm)], capture_output=True, text=True)
    test.check("a full TMPDIR", run.returncode == 2 and not run.stdout and re.search(
        r"there is no room .* \(No space left on device\): it takes \d+ MB, .*set TMPDIR",
        run.stderr) is not None, run)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"modes": modes, "signals": signals, "terminal": terminal, "limits": limits}
    parser.add_argument("part", choices=["build", *parts])
    parser.add_argument("work", type=Path)
    parser.add_argument("--torch-confirm")
    parser.add_argument("--cache-dir")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--torch")
    parser.add_argument("--cxx")
    arguments = parser.parse_args()
    if arguments.part == "build":
        cmake_build.build(INPUTS, arguments.work.resolve() / "build",
                          f"-DTorch_DIR={arguments.torch}",
                          f"-DCMAKE_CXX_COMPILER={arguments.cxx}", cmake=arguments.cmake)
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    test = Test(arguments)
    parts[arguments.part](test)
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
