"""The result as text, as CSV to fill in, and as tables for the documentation."""

import csv
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- evaluate: begin -->", "<!-- evaluate: end -->"
COLUMNS = ["repository", "commit", "path", "line", "check", "expected", "parses", "why", "by"]
UNLABELLED_COLUMNS = COLUMNS[:5] + ["expected", "parses", "why", "by", "message"]

# Lists of a check that are printed in full, with their headings.
LISTED = [
    ("missed", "missed: expected here, and not found"),
    ("violated", "violated: found where it must be quiet"),
    ("waived", "waived: not as labelled, for a written reason"),
    ("verdict_false", "known to be false"),
    ("verdict_true_gone", "judged true, and no longer found"),
    ("unlabelled", "without label"),
]
# The content of --json, and entries of its lists.
Result = dict[str, Any]
Entry = dict[str, Any]


def text(result: Result) -> str:
    lines = []
    lines += _parse_lines(result)
    for check, summary in result["checks"].items():
        counts, parsed = summary["counts"], summary["counts_parsed"]
        lines += ["", check, "  " + _numbers(counts), "  in files that parse: " + _numbers(parsed)]
        for name, heading in LISTED:
            if summary[name]:
                lines.append(f"  {heading}:")
                lines += [f"    {_place(entry)}: {_remark(entry)}" for entry in summary[name]]
    for group, checks in sorted(result["other_labels"].items()):
        lines += ["", f"labels of checks {group}: {sum(checks.values())} ("
                  + ", ".join(f"{name} {count}" for name, count in sorted(checks.items())) + ")"]
    if result["failures"]:
        lines += ["", "CRASHED OR TIMED OUT:"]
        lines += [f"  {entry['repository']}: {entry['path']}: {entry['failure']}"
                  for entry in result["failures"]]
    if result["problems"]:
        lines += ["", "NOT THERE:"] + [f"  {problem}" for problem in result["problems"]]
    lines.append("")
    for goal in result["goals"]:
        met = "met   " if goal["met"] else "MISSED"
        lines.append(f"{met} {goal['goal']}: {goal['measured']}")
    return "\n".join(lines) + "\n"


def _parse_lines(result: Result) -> list[str]:
    lines = [f"{len(result['repositories'])} repositories"]
    for title, name in [("units analysed", "files"), ("labelled files", "labelled_files")]:
        count = _parse_counts(result[name])
        lines.append(f"{sum(count.values())} {title}: {count['clean']} parse clean, "
                     f"{count['stubs']} with stubs, {count['partly']} partly")
    partly = [entry for entry in result["files"] if entry["parses"] == "partly"]
    if partly:
        lines.append("parse partly:")
    for entry in partly:
        reason = (f"no '{entry['missing_headers'][0]}'" if entry["missing_headers"]
                  else (entry["first_errors"] or ["no result"])[0])
        lines.append(f"  {entry['repository']}: {entry['path']}: {entry['errors']} errors, "
                     f"{reason}")
    return lines


def _parse_counts(entries: list[Entry]) -> dict[str, int]:
    count = {"clean": 0, "stubs": 0, "partly": 0}
    for entry in entries:
        count[entry["parses"]] += 1
    return count


def _numbers(counts: dict[str, int]) -> str:
    expected = counts["hit"] + counts["missed"]
    clean = counts["kept_clean"] + counts["violated"]
    words = [f"{counts['hit']} of {expected} expected findings hit, {counts['missed']} missed",
             f"{counts['violated']} of {clean} clean lines violated"]
    judged = counts["verdict_true"] + counts["verdict_false"]
    if judged:
        words.append(f"{judged} other findings judged, {counts['verdict_true']} true, "
                     f"{counts['verdict_false']} false")
    if counts["waived"]:
        words.append(f"{counts['waived']} waived")
    words.append(f"{counts['unlabelled']} without label")
    return "; ".join(words)


def _place(entry: Entry) -> str:
    return f"{entry['repository']}: {entry['path']}:{entry['line']}"


def _remark(entry: Entry) -> str:
    remark = entry.get("message", "")
    if "why" in entry:
        remark = entry.get("waived") or entry["why"]
        if entry.get("found_at", entry["line"]) != entry["line"]:
            remark += f" [found at line {entry['found_at']}]"
    return remark + (" [parses partly]" if entry["parses"] == "partly" else "")


def write_unlabelled(result: Result, path: Path) -> None:
    """The findings without label, to be judged: fill in 'expected' and 'why'."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, UNLABELLED_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for finding in result["unlabelled"]:
            row = {name: finding.get(name, "") for name in UNLABELLED_COLUMNS}
            writer.writerow({**row, "expected": "", "why": "", "by": ""})


def write_markdown(result: Result, path: Path) -> None:
    """Replaces what stands between the marks of this file."""
    page = path.read_text(encoding="utf-8")
    begin, end = page.find(BEGIN), page.find(END)
    if begin < 0 or end < begin:
        raise ValueError(f"'{path}' has no lines '{BEGIN}' and '{END}'")
    path.write_text(page[:begin] + BEGIN + "\n\n" + _markdown(result) + "\n" + page[end:],
                    encoding="utf-8")


def _markdown(result: Result) -> str:
    sections = [_goal_table(result), _check_table(result), _repository_table(result)]
    for name, heading in LISTED[:5]:
        entries = [(check, entry) for check, summary in result["checks"].items()
                   for entry in summary[name]]
        if entries:
            rows = [f"| {check} | {entry['repository']} | {entry['path']}:{entry['line']} | "
                    f"{_remark(entry).replace('|', '/')} |" for check, entry in entries]
            heading = heading[0].upper() + heading[1:]
            sections.append("\n".join([heading, "", "| check | repository | line | |",
                                       "|---|---|---|---|"] + rows))
    return "\n\n".join(sections) + "\n"


def _goal_table(result: Result) -> str:
    rows = [f"| {goal['goal']} | {goal['measured']} | {'yes' if goal['met'] else 'no'} |"
            for goal in result["goals"]]
    return "\n".join(["| goal | measured | met |", "|---|---|---|"] + rows)


def _check_table(result: Result) -> str:
    heads = ["check", "expected", "hit", "missed", "of these in files that parse",
             "clean lines", "violated", "of these in files that parse", "waived",
             "other findings judged true", "false", "without label"]
    rows, total = [], None
    for check, summary in result["checks"].items():
        numbers = _row(summary)
        rows.append([check] + numbers)
        total = numbers if total is None else [a + b for a, b in zip(total, numbers)]
    rows.append(["all"] + (total or []))
    return "\n".join(["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
                     + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def _row(summary: Result) -> list[int]:
    counts, parsed = summary["counts"], summary["counts_parsed"]
    return [counts["hit"] + counts["missed"], counts["hit"], counts["missed"], parsed["missed"],
            counts["kept_clean"] + counts["violated"], counts["violated"], parsed["violated"],
            counts["waived"], counts["verdict_true"], counts["verdict_false"],
            counts["unlabelled"]]


def _repository_table(result: Result) -> str:
    rows, total = [], [0] * 5
    for repository, entry in result["repositories"].items():
        files = [file for file in result["files"] if file["repository"] == repository]
        count = _parse_counts(files)
        findings = sum(found["repository"] == repository
                       for summary in result["checks"].values()
                       for name in ("hit", "violated", "verdict_true", "verdict_false", "waived",
                                    "unlabelled")
                       for found in summary[name]
                       if name == "unlabelled" or "found_at" in found)
        numbers = [len(files), count["clean"], count["stubs"], count["partly"], findings]
        total = [a + b for a, b in zip(total, numbers)]
        rows.append([f"{repository} at {entry['commit'][:10] or '?'}"] + numbers)
    rows.append(["all"] + total)
    return "\n".join(["| repository | units analysed | clean | with stubs | partly | findings |",
                      "|---|---:|---:|---:|---:|---:|"]
                     + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])
