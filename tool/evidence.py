"""Shows what `torch-confirm scenarios --json` has measured: as a page of its own
(docs/evidence/scenarios*.md), and as a section of each check's page.
"""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path("docs/evidence")
# One file a kind of machine; a page says so where one is missing.
FILES = {"cpu": FOLDER / "scenarios.json", "cuda": FOLDER / "scenarios-cuda.json"}
BEGIN = "<!-- tool/docs-index writes from here: what the scenario pair measures -->\n"
END = "<!-- to here -->\n"
# What the JSON file holds: of a run, of a check, of a measure.
Result = dict[str, Any]


def shown(number: Any) -> str:
    """As torch-confirm's own table has it."""
    if number is None:
        return "-"
    if isinstance(number, dict):
        return (f"{shown(number['median'])} ({shown(number['least'])} to "
                f"{shown(number['most'])})")
    if number == math.floor(number) and abs(number) < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def title_of(device: str) -> str:
    return "CUDA" if device == "cuda" else "the CPU"


def title(row: Result) -> str:
    name = row["measure"].replace("-", " ")
    return name if row["loop"] == "process" else f"`{row['loop']}`: {name}"


def verdict(row: Result) -> str:
    if row["verdict"] == "reported":
        return "reported only"
    return row["verdict"] + (f", {row['required']}" if row["required"] else "")


def ratio(row: Result) -> str:
    return shown(row.get("ratio"))


def machine(results: Result, device: str) -> str:
    parts = [f"LibTorch {results['libtorch']}"]
    if device == "cuda":
        parts.append(results["cuda-device"] or "CUDA")
        if results["cuda-driver"]:
            parts.append(f"driver {results['cuda-driver']}")
    else:
        parts.append("CPU, one thread")
        parts.append(results["processor"])
    return ", ".join([part for part in parts if part] + [results["date"]])


def growth_lines(outcome: Result) -> Iterator[str]:
    for growth in outcome["growth"]:
        yield (f"- {title(growth)}: from size {growth['from']} to {growth['to']} the "
               f"difference grows {shown(growth['times'])} times, expected "
               f"{shown(growth['expected'])}: {growth['verdict']}.")


def page(results: Result, missing: Sequence[str] = ()) -> str:
    """All of one run. Missing: devices that nothing was measured on."""
    devices = sorted({device for check in results["checks"] for device in check["devices"]})
    lines = ["<!-- Written by tool/evidence.py from the JSON file beside it. -->",
             "# What the scenario pairs measure", "",
             "`torch-confirm scenarios --json FILE`; [scenarios](../scenarios.md) says what "
             "the columns mean.", ""]
    lines += [f"- {device}: {machine(results, device)}" for device in devices]
    lines += [f"- torch-confirm {results['torch-confirm']}; times are medians (and range) of "
              f"{results['repeat']} runs without the probe, all else is of one run under it."
              if results["repeat"] else f"- torch-confirm {results['torch-confirm']}"]
    lines += [f"- Not yet measured on {title_of(device)}." for device in missing]
    held = sum(check["verdict"] == "holds" for check in results["checks"])
    lines += ["", f"{held} of {len(results['checks'])} scenarios hold."]
    for check in results["checks"]:
        lines += ["", f"## {check['check']}", "",
                  f"Evidence: {check['evidence']}; {check['verdict']}"
                  + (f"; measured {check['date']}." if "date" in check else ".")]
        lines += [f"- {problem}" for problem in check["problems"]]
        for device, outcome in check["devices"].items():
            lines += ["", f"| on {device} | size | wrong | fixed | fix-it | ratio | verdict |",
                      "|---|--:|--:|--:|--:|--:|---|"]
            lines += [f"| {title(row)} | {row['size']} | {shown(row['wrong'])} | "
                      f"{shown(row['fixed'])} | {shown(row['fixit'])} | {ratio(row)} | "
                      f"{verdict(row)} |" for row in outcome["measures"]]
            growths = list(growth_lines(outcome))
            lines += ["", *growths] if growths else []
    return "\n".join(lines) + "\n"


def table(outcome: Result) -> Iterator[str]:
    """The sizes of a quantity side by side."""
    rows: dict[str, dict[str, Result]] = {}
    for row in outcome["measures"]:
        rows.setdefault(title(row), {})[row["size"]] = row
    sizes = sorted({row["size"] for row in outcome["measures"]})
    yield "| | " + " | ".join(f"size {size}: wrong | fixed" for size in sizes) + " |"
    yield "|---|" + "--:|--:|" * len(sizes)
    for name, by_size in rows.items():
        # The sanitizer runs at the smallest size only.
        cells = [shown(by_size.get(size, {}).get(key))
                 for size in sizes for key in ["wrong", "fixed"]]
        yield f"| {name} | " + " | ".join(cells) + " |"


def load(root: Path) -> dict[str, Result]:
    """{device: results} of what is committed."""
    return {device: json.loads((root / file).read_text(encoding="utf-8"))
            for device, file in FILES.items() if (root / file).exists()}


def section(check: str, measured: dict[str, Result]) -> str:
    """What a check's page shows of {device: results}."""
    lines = []
    for device in FILES:
        for other in measured.get(device, {}).get("checks", []):
            if other["check"] == check and device in other["devices"]:
                # A check that came later was measured later.
                run = measured[device] | {"date": other.get("date", measured[device]["date"])}
                lines += ["", f"Measured ({machine(run, device)}):", "",
                          *table(other["devices"][device])]
                break
        else:
            lines += ["", f"Not yet measured on {title_of(device)}."]
    return "\n".join(lines) + "\n\n"


def with_section(text: str, check: str, measured: dict[str, Result]) -> str | None:
    """The page's text with the section written anew; None where it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return None
    return before + begin + section(check, measured) + end + after
