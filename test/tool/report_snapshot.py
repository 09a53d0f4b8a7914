#!/usr/bin/env python3
"""Reads a snapshot of torch-confirm report with what PyTorch reads its own with, and prints
what that says.

    report_snapshot.py MEMORY_VIZ FILE...

MEMORY_VIZ is torch/cuda/_memory_viz.py of a wheel; it runs without the rest of torch.
"""

import importlib.util
import itertools
import pickle
import pickletools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

# What the viewer of pytorch.org/memory_viz can read, which has its own reader.
OPCODES = set("""PROTO STOP NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT
    BINUNICODE SHORT_BINUNICODE EMPTY_LIST EMPTY_DICT EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3
    MARK APPEND APPENDS SETITEM SETITEMS BINPUT LONG_BINPUT BINGET LONG_BINGET MEMOIZE FRAME
    LIST DICT""".split())
Snapshot = dict[str, Any]


class PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise AssertionError(f"no plain data: {module}.{name}")


def load(path: Path) -> Snapshot:
    data = path.read_bytes()
    most = waiting = 0
    for opcode, argument, _ in pickletools.genops(data):
        assert opcode.name in OPCODES, opcode.name
        assert opcode.name != "PROTO" or argument == 2
        # A call in JavaScript takes some ten thousand arguments.
        waiting = 0 if opcode.name in {"MARK", "APPENDS", "SETITEMS"} else waiting + 1
        most = max(most, waiting)
    assert most < 30_000
    # It also looks whether marks and numbers of kept values fit.
    with open("/dev/null", "w") as nowhere:
        pickletools.dis(data, out=nowhere)
    with path.open("rb") as file:
        snapshot: Snapshot = PlainUnpickler(file).load()
        assert not file.read()
    return snapshot


def replay(trace: list[dict[str, Any]]) -> tuple[dict[int, int], int]:
    """What is there at the end of a trace, and the most that was; no two blocks overlap,
    and each lies in a segment."""
    blocks: dict[int, int] = {}
    segments: dict[int, int] = {}
    requested: set[int] = set()
    most = last = 0
    for entry in trace:
        address, size = entry["addr"], entry["size"]
        assert entry["time_us"] >= last and entry["stream"] == 0
        last = entry["time_us"]
        match entry["action"]:
            case "segment_alloc":
                assert all(address >= other + bytes_ or address + size <= other
                           for other, bytes_ in segments.items())
                segments[address] = size
            case "segment_free":
                assert segments.pop(address) == size
            case "alloc":
                assert size > 0 and entry["frames"] and entry["category"]
                assert any(other <= address and address + size <= other + bytes_
                           for other, bytes_ in segments.items())
                assert address not in blocks
                blocks[address] = size
                most = max(most, sum(blocks.values()))
            case "free_requested":
                assert blocks[address] == size
                requested.add(address)
            case "free_completed":
                requested.remove(address)
                del blocks[address]
            case action:
                assert action == "snapshot", action
    ordered = sorted(blocks.items())
    for (address, size), (other, _) in itertools.pairwise(ordered):
        assert address + size <= other
    return blocks, most


def consistent(snapshot: Snapshot) -> None:
    """What the viewer takes for granted."""
    traces = snapshot["device_traces"]
    for entry in (entry for trace in traces for entry in trace):
        for frame in entry["frames"]:
            assert set(frame) == {"filename", "line", "name"}, frame
            assert all(type(frame[key]) is str for key in ["filename", "name"])
    categories = {entry["category"] for trace in traces for entry in trace
                  if "category" in entry}
    assert "unknown" in categories
    for device, trace in enumerate(traces):
        blocks, most = replay(trace)
        at_end = {}
        reserved = 0
        for segment in (each for each in snapshot["segments"] if each["device"] == device):
            address = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == address
                if block["state"] == "active_allocated":
                    at_end[address] = block["size"]
                address += block["size"]
            assert address == segment["address"] + segment["total_size"]
            assert segment["allocated_size"] == sum(at_end.values())
            reserved += segment["total_size"]
        assert blocks == at_end, device
        print(f"  device {device}: {len(trace)} entries, most {most}, at the end "
              f"{sum(blocks.values())} of {reserved}")


def describe(viz: ModuleType, path: Path) -> None:
    print(path.name)
    snapshot = load(path)
    consistent(snapshot)
    for line in viz.segsum(snapshot).splitlines():
        if re.match(r"segments:|total_\w+:", line):
            print(f"  stats: {line}")
    assert viz.trace(load(path)).count(" entries\n") == len(
        [trace for trace in snapshot["device_traces"] if trace])
    # For flamegraph.pl, which is not there.
    for line in viz.memory(snapshot, format_flamegraph=str).splitlines()[:6]:
        print(f"  memory: {line}")
    by_segment = viz.segments(snapshot, format_flamegraph=str).splitlines()
    assert len(by_segment) == sum(len(each["blocks"]) for each in snapshot["segments"])
    same = viz.compare(snapshot["segments"], snapshot["segments"], format_flamegraph=str)
    assert same == "", same
    for plot in [viz.trace_plot, viz.segment_plot]:
        assert "snapshot.pickle" in plot(load(path))


def main() -> None:
    spec = importlib.util.spec_from_file_location("memory_viz", sys.argv[1])
    assert spec and spec.loader
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    for name in sys.argv[2:]:
        describe(viz, Path(name))


if __name__ == "__main__":
    main()
