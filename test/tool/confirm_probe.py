#!/usr/bin/env python3
"""Tests the probe with the programs of Inputs/confirm/probe.

    confirm_probe.py build WORK --cmake CMAKE --torch FOLDER
    confirm_probe.py leaks|endings|sites|events|children|trace WORK
"""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

INPUTS = Path(__file__).resolve().parent / "Inputs" / "confirm" / "probe"
ROOT = Path(__file__).resolve().parents[2]
ITERATIONS = 40
sys.path.insert(0, str(ROOT / "test" / "support"))
sys.dont_write_bytecode = True
import cmake_build  # noqa: E402

# As the program dump prints it.
Trace = dict[str, Any]
Finished = subprocess.CompletedProcess[str]


def line_of(file: str, comment: str) -> int:
    lines = (INPUTS / file).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith("// " + comment))


class Test:
    def __init__(self, work: Path) -> None:
        self.work, self.failed = work.resolve(), 0
        self.probe = self.work / "torch-confirm-probe" / "libtorch-confirm-probe.so"

    def check(self, name: str, ok: bool, more: object = "") -> None:
        self.failed += not ok
        print(f"{'ok' if ok else 'FAILED'}: {name}{'' if ok else f': {more}'}")

    def equal(self, name: str, got: object, expected: object) -> None:
        self.check(f"{name} is {expected}", got == expected, got)

    def environment(self, trace: Path, **more: str) -> dict[str, str]:
        return {**os.environ, "LD_PRELOAD": str(self.probe), "OMP_NUM_THREADS": "1",
                "TORCH_CONFIRM_TRACE": str(trace), **more}

    def run(self, name: str, *words: object, probed: bool = True,
            **more: str) -> tuple[Finished, list[Trace]]:
        """The finished process and its traces, by path, of which the first is its own."""
        folder = self.work / "traces"
        folder.mkdir(exist_ok=True)
        trace = folder / name
        for old in folder.glob(name + "*"):
            old.unlink()
        environment = self.environment(trace, **more) if probed else None
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                             errors="replace", env=environment, timeout=200,
                             cwd=self.work)
        return run, [self.read(each) for each in sorted(folder.glob(name + "*"))]

    def read(self, trace: Path) -> Trace:
        return json.loads(cmake_build.execute(self.work / "dump", trace))

    def lines(self, trace: Trace) -> list[list[int]]:
        """The lines of each site's frames in the sources of the tests, innermost first."""
        offsets = collections.defaultdict(set)
        for site in trace["sites"]:
            for module, offset in site["frames"]:
                offsets[module].add(offset)
        found = {}
        tool = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
        assert tool, "llvm-symbolizer was not found"
        for module, wanted in offsets.items():
            ordered = sorted(wanted)
            text = "".join(f"{offset:#x}\n" for offset in ordered)
            out = subprocess.run([tool, "--obj=" + module, "--inlines", "--functions=none"],
                                 input=text, capture_output=True, text=True, check=True)
            for offset, block in zip(ordered, out.stdout.strip().split("\n\n")):
                lines = [re.fullmatch(r"(.*):(\d+):\d+", row) for row in block.splitlines()]
                found[module, offset] = [int(row[2]) for row in lines
                                         if row and Path(row[1]).parent == INPUTS]
        return [[line for frame in site["frames"] for line in found[tuple(frame)]]
                for site in trace["sites"]]


def mark(trace: Trace, name: str) -> dict[str, Any]:
    return next(site for site in trace["sites"] if site["operation"] == "mark:" + name)


def slope(site: dict[str, Any], column: int) -> float:
    """Growth per iteration over the second half."""
    rows = [row for row in site["series"] if row[0] >= ITERATIONS // 2]
    return (rows[-1][column] - rows[0][column]) / (rows[-1][0] - rows[0][0])


def leaks(test: Test) -> None:
    alone, _ = test.run("leaks", test.work / "leaks", probed=False)
    run, (trace,) = test.run("leaks", test.work / "leaks", TORCH_CONFIRM_HEAP="1")
    test.equal("leaks: output", (run.returncode, run.stdout, run.stderr),
               (0, alone.stdout, alone.stderr))
    for quantity in ["operations", "cpu-memory", "graph-nodes", "gradients", "copies",
                     "synchronisations", "exceptions", "call-stacks", "heap",
                     "wrapped-memory", "members", "casts"]:
        test.equal(quantity, trace["capabilities"][quantity], [1, ""])
    test.check("cuda-memory is not measured",
               trace["capabilities"]["cuda-memory"] == [0, "libc10_cuda.so is not loaded"],
               trace["capabilities"])
    # Bytes and nodes per iteration, as measured by other means (docs/probe.md).
    for name, size, nodes in [("healthy", 0, 0), ("stored", 4, 10), ("total", 0, 11),
                              ("evaluated", 35336, 10), ("guarded", 4, 0),
                              ("views", 0, 0), ("threaded", 0, 0), ("custom", 0, 0)]:
        site = mark(trace, name)
        test.equal(f"{name}: iterations", site["hits"], ITERATIONS)
        test.equal(f"{name}: bytes, nodes", (slope(site, 1), slope(site, 2)), (size, nodes))
    # The whole network with its activations, above what there was.
    test.equal("evaluated: peak", mark(trace, "evaluated")["peak"], 35336 * ITERATIONS
               + mark(trace, "evaluated")["peak"] % 35336)
    lines = test.lines(trace)
    uncleared = {stack[0]: site["uncleared"] for site, stack in zip(trace["sites"], lines)
                 if stack and (site["uncleared"] or site["operation"].startswith("step:"))}
    for name, number in [("healthy", 0), ("uncleared", ITERATIONS - 1), ("after", 0),
                         ("batches", 0), ("byHand", 0), ("byData", 0), ("inPlace", 0),
                         ("clipped", ITERATIONS - 1), ("clippedByHand", ITERATIONS - 1),
                         ("threaded", 0), ("writtenAndCleared", 0),
                         # Each of six parameters is a step of its own.
                         ("written", 6 * (ITERATIONS - 1)),
                         ("writtenData", 6 * (ITERATIONS - 1)),
                         ("adversarial", 0), ("generator", 0)]:
        test.equal(f"{name}: steps applied again",
                   uncleared.get(line_of("leaks.cpp", "step " + name), 0), number)
    custom = [site for site, stack in zip(trace["sites"], lines)
              if site["operation"] == "aten::mul"
              and stack[:1] == [line_of("leaks.cpp", "custom backward")]]
    test.equal("operations in a custom backward have its line",
               [site["hits"] for site in custom], [ITERATIONS])
    layers = {text for site in trace["sites"] if site["operation"] == "aten::addmm"
              for text, _ in site["shapes"]}
    test.check("shapes of layers", bool(layers) and all(
        re.fullmatch(r"(Float\[[\d,]+\](, )?){3} on cpu", text) for text in layers), layers)
    test.equal("a value", mark(trace, "healthy")["values"]["sum"][0], ITERATIONS)
    test.equal("a value outside of loops", mark(trace, "")["values"]["outside"][2], 1.5)
    test.equal("alive when all is over", (trace["live"], trace["nodes_alive"]), (0, 0))
    test.equal("nodes of sites", sum(site["nodes"] for site in trace["sites"]),
               trace["nodes"])
    test.equal("wrongly recognised stacks", trace["stack_check_failures"], 0)


# What std::terminate and LibTorch print has addresses of this run.
VOLATILE = re.compile(r"0x[0-9a-f]+|frame #.*")


def endings(test: Test) -> None:
    ends = test.work / "endings"
    exits = ["return", "exit", "_exit", "quick_exit", "segv", "abort", "throw", "catch",
             "again", "term", "kill", "terminate", "memory", "fork", "fork-return",
             "fork-idle", "handler", "overflow", "threads", "many-threads",
             "cuda"]

    def both(how: str) -> tuple[str, Finished, tuple[Finished, list[Trace]]]:
        return how, test.run(how + "-alone", ends, how, probed=False)[0], \
            test.run(how + "-trace", ends, how)

    with ThreadPoolExecutor(2) as pool:
        for how, alone, (run, traces) in pool.map(both, exits):
            test.equal(f"{how}: exit code", run.returncode, alone.returncode)
            test.check(f"{how}: output", run.stdout == alone.stdout, run.stdout)
            test.check(f"{how}: errors", VOLATILE.sub("", run.stderr).split()
                       == VOLATILE.sub("", alone.stderr).split(), run.stderr)
            test.equal(f"{how}: traces", len(traces), 2 if how in ["fork", "fork-return"]
                       else 1)
            trace = traces[0]
            test.equal(f"{how}: command", trace["command"], [str(ends), how])
            test.check(f"{how}: item() is known", trace["synchronisations"] >= 1, trace)
            exceptions = {"throw": ("aten::view", "thrown"), "catch": ("aten::view", "caught"),
                          "again": ("backward", "again")}
            if how in exceptions:
                operation, comment = exceptions[how]
                thrown = [(site["operation"], stack[0], site["exceptions"]) for site, stack
                          in zip(trace["sites"], test.lines(trace)) if site["exceptions"]]
                test.equal(f"{how}: exceptions", thrown,
                           [(operation, line_of("endings.cpp", comment), 1)])
                said = [each for site in trace["sites"] for each in site["thrown"]]
                test.check(f"{how}: type and message", len(said) == 1
                           and said[0][0] == "N3c105ErrorE" and said[0][1]
                           and said[0][2] == 1, said)
            if how == "threads":
                test.equal("threads: nodes", (trace["nodes"], trace["nodes_alive"],
                                              trace["backwards"]),
                           (8 * 500 * 2, 0, 8 * 500))
            if how == "cuda":
                test.equal("cuda: memory", (trace["capabilities"]["cuda-memory"],
                                            trace["live_cuda"], trace["peak_cuda"],
                                            trace["reserved_cuda"]),
                           ([1, ""], 1000, 5096, 1 << 20))
            if how == "kill":
                # Two tensors of 16 and 40 bytes; the sums are gone.
                test.equal("kill: alive", trace["live"], 56)
            if how in ["fork", "fork-return"]:
                child = traces[1]
                test.equal(f"{how}: child", (child["forked_from"], child["command"]),
                           (trace["pid"], trace["command"]))
                items = [site["hits"] for site in child["sites"]
                         if site["operation"] == "aten::item"]
                # Inherited sites have no hits of the parent's.
                test.equal(f"{how}: items of the child", sum(items),
                           1 if how == "fork" else 2)


def children(test: Test) -> None:
    plain = test.work / "plain"
    run, traces = test.run("plain", plain, "3")
    test.equal("no LibTorch: exit code, output, traces",
               (run.returncode, run.stdout, run.stderr, traces), (3, "plain\n", "", []))
    maps, _ = test.run("maps", "cat", "/proc/self/maps")
    test.check("no LibTorch: nothing else is loaded", "libtorch-confirm-probe" in maps.stdout
               and "libstdc++" not in maps.stdout and "libtorch_cpu" not in maps.stdout,
               maps.stdout)
    ends = test.work / "endings"
    run, traces = test.run("exec", ends, "exec", plain, "4")
    test.equal("exec of another program", (run.returncode, run.stdout, len(traces)),
               (4, "plain\n", 1))
    run, traces = test.run("system", ends, "system", f"{plain}; {ends} exit")
    test.equal("children by a shell", (run.returncode, run.stdout.splitlines()[0],
                                       len(traces)),
               (alone_code(3), "plain", 2))
    test.equal("commands", [trace["command"][1] for trace in traces], ["system", "exit"])
    run, traces = test.run("off", ends, "exit", TORCH_CONFIRM_OFF="1")
    test.equal("TORCH_CONFIRM_OFF", (run.returncode, traces), (3, []))
    run, traces = test.run("nowhere", ends, "exit",
                           TORCH_CONFIRM_TRACE=str(test.work / "no" / "folder"))
    test.equal("a trace that cannot be written", (run.returncode, run.stderr), (3, ""))
    run, (trace,) = test.run("fake", test.work / "fake")
    test.equal("another LibTorch", (run.returncode, run.stdout, run.stderr), (0, "1\n", ""))
    for quantity, reason in [
            ("cpu-memory", "libc10.so does not call c10::ProfiledCPUMemoryReporter::New and "
             "Delete by its symbol: it is of another version, or bound symbolically"),
            ("operations", "the probe does not fit this LibTorch: "),
            ("graph-nodes", "the probe does not fit this LibTorch: ")]:
        known, why = trace["capabilities"][quantity]
        test.check(f"another LibTorch: {quantity}", not known and why.startswith(reason), why)
    # Linked, the probe needs no environment.
    folder = test.work / "linked"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    process = subprocess.Popen([test.work / "events", "10"], cwd=folder,
                               stdout=subprocess.PIPE)
    process.communicate()
    test.equal("linked: traces", [each.name for each in folder.iterdir()],
               [f"torch-confirm.{process.pid}.trace"])
    test.equal("linked: iterations",
               mark(test.read(next(folder.iterdir())), "events")["hits"], 10)


def alone_code(code: int) -> int:
    """What main returns when it returns the status of system()."""
    return (code << 8) % 256


def sites(test: Test) -> None:
    source = INPUTS / "sites.cpp"
    planted = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        marked = re.search(r"//@(\??) (\S+)", line)
        if marked:
            planted[number] = marked[2], bool(marked[1])
    names = {name for name, _ in planted.values()}
    # GCC 12 puts the second element of a braced list on the brace that closes main.
    known = {number for number, line in enumerate(source.read_text().splitlines(), 1)
             if "std::vector<Tensor>{" in line}
    for program, unwinder in [("sites", "memo"), ("sites-O2", "memo"),
                              ("sites-O2", "unwind")]:
        _, (trace,) = test.run(program, test.work / program,
                                 TORCH_CONFIRM_UNWIND=unwinder)
        test.equal(f"{program}: unwinder", trace["unwinder"], unwinder)
        found = {(site["operation"], stack[0]) for site, stack
                 in zip(trace["sites"], test.lines(trace)) if stack}
        missed = [number for number, (name, may) in planted.items()
                  if not may and (name, number) not in found and number not in known]
        test.equal(f"{program} {unwinder}: missed lines", missed, [])
        stray = [(name, line) for name, line in found
                 if name in ["aten::item", "backward", "step:SGD"]
                 and planted.get(line, [""])[0] != name]
        test.equal(f"{program} {unwinder}: other lines", stray, [])
        lost = sum(site["hits"] for site, stack
                   in zip(trace["sites"], test.lines(trace)) if not stack)
        test.equal(f"{program} {unwinder}: hits without a line", lost, 0)
    test.check("operations are planted", len(names) > 10)


def events(test: Test) -> None:
    count = 2_500_000
    program = test.work / "events"
    small, _ = test.run("few", program, "1000", TORCH_CONFIRM_UNWIND="memo")
    run, (trace,) = test.run("many", program, str(count), TORCH_CONFIRM_UNWIND="memo")
    # An operation, an allocation, a free, and a mark each.
    measured = trace["operations"] + 2 * trace["allocations"] + count
    test.check("events", measured >= 10_000_000, measured)
    test.equal("hits", mark(trace, "events")["hits"], count)
    series = mark(trace, "events")["series"]
    test.check("the first and the last sample, and between 64 and 130",
               series[0][0] == 1 and series[-1][0] == count and 64 <= len(series) <= 130,
               (series[0], series[-1], len(series)))
    test.equal("allocations in order", [row[3] for row in series],
               sorted(row[3] for row in series))
    # KiB, after the loop and after more stacks than there are sites.
    first, second = ([int(line) for line in each.stdout.split()] for each in (small, run))
    test.check("memory after many events", second[0] - first[0] < 4096, (first, second))
    test.check("memory after many stacks", second[1] - second[0] < 65536, second)
    size = (test.work / "traces" / "many").stat().st_blocks * 512
    test.check("the trace on disk", size < 120 << 20, size)
    test.equal("unattributed", trace["unattributed"], 0)
    shortened = sum(site["shortened"] for site in trace["sites"])
    test.check("stacks are shortened where the table fills up", shortened > 0)
    empty = [site["hits"] for site in trace["sites"] if site["operation"] == "aten::empty"]
    test.equal("no hit is lost", sum(empty), count + (1 << 15))
    shapes = [each for site in trace["sites"] if site["operation"] == "aten::empty"
              for each in site["shapes"]]
    test.equal("sizes", {text for text, _ in shapes}, {"[1]"})
    test.equal("hits with sizes", sum(number for _, number in shapes), sum(empty))
    test.equal("wrongly recognised stacks", trace["stack_check_failures"], 0)
    test.check("stacks were checked", trace["stack_checks"] > 100, trace["stack_checks"])


def trace(test: Test) -> None:
    """What the reader says to files that are no good."""
    good = test.work / "traces" / "read"
    test.run("read", test.work / "endings", "return")
    bad = test.work / "traces" / "bad"

    def says(name: str, message: str, content: bytes) -> None:
        bad.write_bytes(content)
        run = subprocess.run([test.work / "dump", bad], capture_output=True, text=True)
        test.check(f"{name}: {message}", run.returncode == 1
                   and run.stderr == f"{bad}: {message}\n", run.stderr)

    with open(good, "rb") as file:
        head = file.read(1 << 16)
    says("nothing", "is empty: the probe did not start", b"")
    says("text", "is no trace of torch-confirm's probe", b"int main() {}\n" * 1000)
    says("a few bytes", "is no trace of torch-confirm's probe", b"TORC")
    (version,) = struct.unpack_from("<I", head, 8)
    says("another version", f"is a trace of version {version + 1}, and this program reads "
         f"version {version}: the probe was built from other sources",
         head[:8] + struct.pack("<I", version + 1) + head[12:])
    says("another layout", "has another layout than this program reads: the probe was "
         "built from other sources", head[:12] + b"\7\0\0\0" + head[16:])
    size = good.stat().st_size
    says("a piece", f"is truncated: 65536 of {size} bytes", head)
    # Whatever stands in it, reading ends well.
    for seed in range(8):
        content = bytearray(good.read_bytes()[:4 << 20])
        for at in range(4096 + seed * 37, len(content), 4099):
            content[at] = (at * 31 + seed * 7) % 256
        bad.write_bytes(content)
        os.truncate(bad, size)
        run = subprocess.run([test.work / "dump", bad], capture_output=True)
        test.check(f"damage {seed}", run.returncode in [0, 1], run.returncode)
    os.unlink(bad)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"leaks": leaks, "endings": endings, "sites": sites, "events": events,
             "children": children, "trace": trace}
    parser.add_argument("part", choices=["build", *parts])
    parser.add_argument("work", type=Path)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--torch")
    arguments = parser.parse_args()
    if arguments.part == "build":
        cmake_build.build(INPUTS, arguments.work, f"-DTorch_DIR={arguments.torch}",
                          f"-DSOURCE={ROOT}", cmake=arguments.cmake)
        return
    # A shell ignores it for what runs in its background, as tests may.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    test = Test(arguments.work)
    parts[arguments.part](test)
    print(f"{test.failed} failed")
    sys.exit(1 if test.failed else 0)


if __name__ == "__main__":
    main()
