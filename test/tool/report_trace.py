#!/usr/bin/env python3
"""Reads a trace of torch-confirm report as strictly as any reader does, and prints what is
in it.

    report_trace.py FILE...
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

Event = dict[str, Any]
# What an event of each kind has, and what it may have besides.
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "M": ({"pid", "name", "tid", "args"}, set()),
    "X": ({"pid", "name", "tid", "cat", "ts", "dur", "args"}, set()),
    "C": ({"pid", "name", "ts", "args"}, set()),
    "i": ({"pid", "name", "tid", "cat", "ts", "s"}, set()),
}


def nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


def well_formed(event: Event) -> None:
    needed, allowed = FIELDS[event["ph"]]
    fields = set(event) - {"ph"}
    assert needed <= fields <= needed | allowed, event
    assert event["name"] and isinstance(event["name"], str), event
    for name in ["pid", "tid"]:
        if name in event:
            # 0 is no process and no thread to Perfetto.
            assert type(event[name]) is int and 0 < event[name] < 2**32, event
    for name in ["ts", "dur"]:
        if name in event:
            assert isinstance(event[name], (int, float)) and event[name] >= 0, event


def nested(slices: list[Event]) -> int:
    """How deep the slices of a thread lie in each other; they come in order, and none
    reaches over the end of the one around it."""
    open_ends: list[int] = []
    last = deepest = 0
    for each in slices:
        begin = nanoseconds(each["ts"])
        end = begin + nanoseconds(each["dur"])
        assert begin >= last, each
        last = begin
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], each
        open_ends.append(end)
        deepest = max(deepest, len(open_ends))
    return deepest


def describe(name: str) -> None:
    # A name or a value that is there twice would be lost.
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), pairs
        return dict(pairs)

    text = Path(name).read_text(encoding="utf-8")
    assert text.startswith('{"'), "Perfetto takes it for another format"
    log = json.loads(text, object_pairs_hook=once)
    assert list(log) == ["traceEvents", "displayTimeUnit", "otherData"], list(log)
    events: list[Event] = log["traceEvents"]
    for each in events:
        well_formed(each)
    assert len({each["pid"] for each in events}) == 1
    names = {each["tid"]: each["args"]["name"] for each in events
             if each["ph"] == "M" and each["name"] == "thread_name"}
    slices = [each for each in events if each["ph"] == "X"]
    print(f"{Path(name).name}: {len(events)} events")
    assert {each["tid"] for each in slices} <= set(names)
    for thread, title in names.items():
        own = [each for each in slices if each["tid"] == thread]
        kinds = Counter(each["name"].split(" ")[0] for each in own)
        shown = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        print(f"  {title}: depth {nested(own)}, {shown}")
    for counter in dict.fromkeys(each["name"] for each in events if each["ph"] == "C"):
        points = [each for each in events if each["ph"] == "C" and each["name"] == counter]
        times = [each["ts"] for each in points]
        assert times == sorted(times)
        (unit,) = {key for each in points for key in each["args"]}
        values = [each["args"][unit] for each in points]
        assert all(type(value) is int and value >= 0 for value in values)
        print(f"  {counter}: {len(points)} points, up to {max(values)} {unit}")
    for each in events:
        if each["ph"] == "i":
            assert each["s"] == "p"
            print(f"  {each['ts'] / 1000:.0f} ms: {each['name']}")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        describe(file)
