"""Findings against labels: what is hit, missed, violated, and not labelled."""

from typing import Any

from .analysis import Outcome
from .checkout import Checkout
from .labels import Label

GOAL_MISSED = 3        # expected findings missed in files that parse
GOAL_TRUE_PERCENT = 95  # of the verdicts on what is found
# Repository and path.
Unit = tuple[str, str]
Finding = dict[str, Any]


def score(labels: list[Label], results: dict[Unit, Outcome], checkouts: dict[str, Checkout],
          through: dict[Unit, list[str]], checks: list[str], registered: list[str],
          tolerance: int, problems: list[str], everything: bool) -> dict[str, Any]:
    """All numbers as one dictionary, the content of --json."""
    findings = _collect(results)
    by_file = _parses(labels, results, through, findings)
    commits = {label.repository: label.commit for label in labels}
    per_check, unlabelled = {}, []
    later: dict[str, dict[str, int]] = {}
    for check in checks:
        selected = [label for label in labels if label.check == check
                    and (label.repository, label.path) in by_file]
        judged, rest = _match(selected, [finding for finding in findings
                                         if finding["check"] == check], tolerance)
        for finding in rest:
            finding["parses"] = by_file.get((finding["repository"], finding["path"]),
                                            finding["parses"])
            finding["commit"] = commits.get(finding["repository"], "")
        per_check[check] = _summary(judged, rest, by_file)
        unlabelled += rest
    for label in labels:
        if label.check not in checks:
            group = "not selected" if label.check in registered else "not yet implemented"
            later.setdefault(group, {}).setdefault(label.check, 0)
            later[group][label.check] += 1
    failures = [{"repository": repository, "path": unit, "failure": outcome.failure}
                for (repository, unit), outcome in sorted(results.items()) if outcome.failure]
    result = {
        "tolerance": tolerance,
        "all": everything,
        "repositories": {repository: {"commit": checkout.commit or "",
                                      "labelled_at": commits[repository]}
                         for repository, checkout in sorted(checkouts.items())},
        "files": _file_list(results),
        "labelled_files": [{"repository": key[0], "path": key[1], "parses": parses}
                           for key, parses in sorted(by_file.items())],
        "checks": per_check,
        "other_labels": later,
        "unlabelled": sorted(unlabelled, key=_order),
        "failures": failures,
        "problems": problems,
    }
    result["goals"] = _goals(result)
    return result


def _order(finding: Finding) -> tuple[str, str, int, str]:
    return (finding["repository"], finding["path"], finding["line"], finding["check"])


def _collect(results: dict[Unit, Outcome]) -> list[Finding]:
    """Each finding once, however many units show it, with the best parse it was seen in."""
    found: dict[tuple[str, str, int, str], Finding] = {}
    for (repository, unit), outcome in sorted(results.items()):
        for path, line, check, message in outcome.findings:
            entry = found.setdefault((repository, path, line, check), {
                "repository": repository, "path": path, "line": line, "check": check,
                "message": message, "unit": unit, "parses": outcome.parses})
            entry["parses"] = _better(entry["parses"], outcome.parses)
    return [found[key] for key in sorted(found)]


def _better(left: str, right: str) -> str:
    order = ["clean", "stubs", "partly"]
    return min(left, right, key=order.index)


def _parses(labels: list[Label], results: dict[Unit, Outcome], through: dict[Unit, list[str]],
            findings: list[Finding]) -> dict[Unit, str]:
    """How each labelled file that was analysed parses: as the best of its units."""
    parses: dict[Unit, str] = {}
    for label in labels:
        key = (label.repository, label.path)
        for unit in through.get(key, []):
            outcome = results.get((label.repository, unit))
            if outcome and not outcome.failure:
                parses[key] = _better(parses.get(key, "partly"), outcome.parses)
            elif outcome:
                parses.setdefault(key, "partly")
    for finding in findings:  # seen in a better unit than those chosen for it (--all)
        key = (finding["repository"], finding["path"])
        if key in parses:
            parses[key] = _better(parses[key], finding["parses"])
    return parses


def _match(labels: list[Label], findings: list[Finding],
           tolerance: int) -> tuple[list[tuple[Label, Finding | None]], list[Finding]]:
    """Pairs each label with its finding or None, and returns the findings left over.

    A finding belongs to the label that is closest to it, an expected one before a clean
    one. One whose label has another finding already, closer by, is left over.
    """
    places: dict[Unit, list[Label]] = {}
    for label in labels:
        places.setdefault((label.repository, label.path), []).append(label)
    pairs = []
    for number, finding in enumerate(findings):
        near = [(abs(label.line - finding["line"]), label.expected == "clean", label.line,
                 number, label)
                for label in places.get((finding["repository"], finding["path"]), [])]
        closest = min((pair[0] for pair in near), default=tolerance + 1)
        if closest <= tolerance:
            pairs += [pair for pair in near if pair[0] == closest]
    met: dict[Label, Finding] = {}
    used = set()
    for _, is_clean, _, number, label in sorted(pairs, key=lambda pair: pair[:4]):
        if number not in used and (is_clean or label not in met):
            used.add(number)
            met.setdefault(label, findings[number])
    return ([(label, met.get(label)) for label in labels],
            [finding for number, finding in enumerate(findings) if number not in used])


def _summary(judged: list[tuple[Label, Finding | None]], unlabelled: list[Finding],
             by_file: dict[Unit, str]) -> dict[str, Any]:
    """The numbers of one check: in all files, and in those that parse."""
    lists: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("hit", "missed", "kept_clean", "violated", "waived", "verdict_true",
                              "verdict_false", "verdict_true_gone", "verdict_false_gone")}
    for label, finding in judged:
        entry = {"repository": label.repository, "path": label.path, "line": label.line,
                 "why": label.why, "parses": by_file[(label.repository, label.path)]}
        if finding:
            entry["found_at"] = finding["line"]
            entry["message"] = finding["message"]
        if label.waived:
            entry["waived"] = label.waived
        lists[_group(label, finding)].append(entry)
    lists["unlabelled"] = unlabelled
    counts = {name: len(entries) for name, entries in lists.items()}
    parsed = {name: sum(entry["parses"] != "partly" for entry in entries)
              for name, entries in lists.items()}
    return {"counts": counts, "counts_parsed": parsed, **lists}


def _group(label: Label, finding: Finding | None) -> str:
    if label.is_verdict:
        group = "verdict_true" if label.expected == "finding" else "verdict_false"
        return group if finding else group + "_gone"
    if label.expected == "finding":
        if finding:
            return "hit"
        return "waived" if label.waived else "missed"
    if not finding:
        return "kept_clean"
    return "waived" if label.waived else "violated"


def _file_list(results: dict[Unit, Outcome]) -> list[dict[str, Any]]:
    return [{"repository": repository, "path": unit, "parses": outcome.parses,
             "errors": outcome.errors, "first_errors": outcome.error_lines[:3],
             "missing_headers": outcome.missing_headers, "options": outcome.options,
             "findings": len(outcome.findings)}
            for (repository, unit), outcome in sorted(results.items())]


def _goals(result: dict[str, Any]) -> list[dict[str, Any]]:
    counts = [summary["counts"] for summary in result["checks"].values()]
    parsed = [summary["counts_parsed"] for summary in result["checks"].values()]
    missed = sum(count["missed"] for count in parsed)
    violated = sum(count["violated"] for count in parsed)
    true = sum(count["hit"] + count["verdict_true"] for count in counts)
    false = sum(count["violated"] + count["verdict_false"] for count in counts)
    stopped = len(result["failures"])
    goals = [
        _goal(f"at most {GOAL_MISSED} expected findings missed in files that parse",
              missed <= GOAL_MISSED, f"{missed} missed"),
        _goal("no clean line violated in files that parse without a written reason",
              violated == 0, f"{violated} violated"),
        _goal("every file is analysed", not stopped and not result["problems"],
              f"{stopped} crashed or timed out, {len(result['problems'])} not there"),
    ]
    if true + false:
        goals.append(_goal(f"at least {GOAL_TRUE_PERCENT} % of the labelled findings are true",
                           100 * true >= GOAL_TRUE_PERCENT * (true + false),
                           f"{true} true, {false} false, "
                           f"{len(result['unlabelled'])} without label"))
    return goals


def _goal(text: str, met: bool, measured: str) -> dict[str, Any]:
    return {"goal": text, "met": bool(met), "measured": measured}
