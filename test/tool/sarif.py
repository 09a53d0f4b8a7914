#!/usr/bin/env python3
"""Prints what a SARIF log says, one line for each part, after looking at what must hold
for all: places lie in their files, indices fit, what is required is there.

    sarif.py FILE
"""

import json
import sys
import urllib.parse
from pathlib import Path
from typing import Any

Part = dict[str, Any]


def main(name: str) -> None:
    log = json.loads(Path(name).read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    assert driver["name"] and run["columnKind"] == "unicodeCodePoints"
    root = run["originalUriBaseIds"]["SRCROOT"]["uri"]
    assert root.startswith("file:///") and root.endswith("/")

    def lines_of(artifact: Part) -> list[str]:
        uri = artifact["uri"]
        if "uriBaseId" in artifact:
            assert not uri.startswith("/")
            uri = root + uri
        path = urllib.parse.unquote(uri[len("file://"):])
        return Path(path).read_text(encoding="utf-8").split("\n")

    def marked(artifact: Part, region: Part) -> str:
        """The text of a region; up to the end of the line where it has no end."""
        lines = lines_of(artifact)
        first: int = region["startLine"]
        column: int = region["startColumn"]
        last: int = region.get("endLine", first)
        end: int = region.get("endColumn", len(lines[last - 1]) + 1)
        assert 1 <= first <= last <= len(lines)
        assert 1 <= column <= len(lines[first - 1]) + 1
        if first == last:
            assert column <= end
            return lines[first - 1][column - 1:end - 1]
        return "|".join([lines[first - 1][column - 1:],
                         *(line.strip() for line in lines[first:last - 1]),
                         lines[last - 1][:end - 1].strip()])

    def place(location: Part) -> str:
        physical = location["physicalLocation"]
        artifact, region = physical["artifactLocation"], physical["region"]
        return (f"{artifact['uri']}:{region['startLine']}:{region['startColumn']} "
                f"<{marked(artifact, region)}>")

    for rule in driver["rules"]:
        words = rule.get("shortDescription", {}).get("text", "")
        print(f"rule {rule['id']} level {rule.get('properties', {}).get('level')}: {words}")
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        for location in result["locations"]:
            print(f"{result['level']} {result['ruleId']} {place(location)}")
        for number, related in enumerate(result.get("relatedLocations", []), 1):
            assert related["id"] == number
            role = related.get("properties", {}).get("torchTidy", {}).get("role", "none")
            print(f"  related {place(related)} {role}: {related['message']['text']}")
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                for edit in change["replacements"]:
                    gone = marked(change["artifactLocation"], edit["deletedRegion"])
                    print(f"  replace <{gone}> by <{edit['insertedContent']['text']}>")
        known = result.get("properties", {}).get("torchTidy", {})
        for key in ["evidence", "kind"]:
            if key in known:
                print(f"  {key} {known[key]}")
        for key in ["statement", "loop", "iterationSite"]:
            if key in known:
                print(f"  {key} {place(known[key])}")
        print("  fingerprint", *result["partialFingerprints"].values())
    for invocation in run["invocations"]:
        print("successful" if invocation["executionSuccessful"] else "not successful")
        for note in invocation.get("toolExecutionNotifications", []):
            print(f"  {note['level']}: {note['message']['text']}")


if __name__ == "__main__":
    main(sys.argv[1])
