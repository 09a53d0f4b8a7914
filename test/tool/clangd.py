"""Edits sources with torch-clangd as an editor does, and compares what it says with what
torch-tidy says: clangd may say less, never more, and its fixes are the same.

    clangd.py CLANGD TORCH_TIDY FOLDER FILE...

FOLDER has compile_flags.txt. Prints a line for each thing seen; exits with 1 when
something is not as it should be.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.dont_write_bytecode = True
from lsp import Message, Server  # noqa: E402


def by_torch_tidy(torch_tidy: str, folder: Path, name: str) -> set[tuple[int, str]]:
    done = subprocess.run([torch_tidy, "--quiet", "--format=jsonl", name], cwd=folder,
                          capture_output=True, text=True, check=True)
    findings = map(json.loads, done.stdout.splitlines())
    return {(f["line"], f["check"]) for f in findings if f["file"] == name}


def torch_findings(diagnostics: list[Message]) -> list[Message]:
    return [d for d in diagnostics if str(d.get("code", "")).startswith("torch-")]


def places(diagnostics: list[Message]) -> set[tuple[int, str]]:
    return {(d["range"]["start"]["line"] + 1, d["code"]) for d in torch_findings(diagnostics)}


def is_silencing(action: Message) -> bool:
    return str(action["title"]).startswith("silence ")


def silence_all(server: Server, name: str) -> int:
    """Takes the offer to silence each finding; none may be left."""
    silenced = 0
    while findings := torch_findings(server.diagnostics(name)):
        offers = [a for a in server.actions(name, findings[0]) if is_silencing(a)]
        if [a["title"] for a in offers] != [f"silence {findings[0]['code']} here"]:
            raise SystemExit(f"offers for {findings[0]['code']}: {offers}")
        if offers[0]["diagnostics"] != [findings[0]] or offers[0]["kind"] != "quickfix":
            raise SystemExit(f"offered for something else: {offers[0]}")
        server.apply(name, offers[0])
        silenced += 1
        if silenced > 50:
            raise SystemExit("findings are not silenced")
    return silenced


def apply_all(server: Server, name: str) -> int:
    """Applies fixes until there are none, each to the text as it is by then."""
    applied = 0
    while True:
        actions = [action for finding in torch_findings(server.diagnostics(name))
                   for action in server.actions(name, finding)
                   if "edit" in action and not is_silencing(action)]
        if not actions:
            return applied
        server.apply(name, actions[0])
        applied += 1
        if applied > 50:
            raise SystemExit("fixes do not come to an end")


def main(clangd: str, torch_tidy: str, work: str, *names: str) -> int:
    folder = Path(work)
    wrong, alike = [], []
    with Server([clangd, "--background-index=false"], folder) as server:
        for name in names:  # All are open at once.
            server.open(name)
        for name in names:
            said = server.diagnostics(name)
            errors = [d["message"] for d in said if d["severity"] == 1]
            if errors:
                wrong.append(f"{name}: errors: {errors}")
            mine, whole = places(said), by_torch_tidy(torch_tidy, folder, name)
            print(f"{name}: {len(mine)} of torch-tidy's {len(whole)} findings")
            if mine == whole:
                alike.append(name)
            for line, check in sorted(mine - whole):
                wrong.append(f"{name}:{line}: only clangd says {check}")
            for finding in torch_findings(said):
                page = finding["codeDescription"]["href"].removeprefix("file://")
                if not Path(page).is_file() or Path(page).stem != finding["code"]:
                    wrong.append(f"{name}: {finding['code']} links to {page}")
                if any(is_silencing(a) for a in server.actions(name, finding, only=["refactor"])):
                    wrong.append(f"{name}: {finding['code']}: a quick fix was not asked for")
            original = server.texts[name]
            print(f"{name}: {silence_all(server, name)} silenced")
            if "NOLINT" in server.texts[name]:
                print(*[line.strip() for line in server.texts[name].splitlines()
                        if "NOLINT" in line], sep="\n")
            # clangd has nothing to say of a version with the same text.
            if server.texts[name] != original:
                server.change(name, original)
        for name in alike:
            copy = folder / f"fixed-{name}"
            shutil.copy(folder / name, copy)
            subprocess.run([torch_tidy, "--quiet", "--fix", copy.name], cwd=folder,
                           capture_output=True, check=True)
            applied = apply_all(server, name)
            left = places(server.diagnostics(name))
            print(f"{name}: {applied} fixes applied, {len(left)} findings left")
            if not left and server.texts[name] != copy.read_text():
                wrong.append(f"{name}: the fixes of clangd are not those of torch-tidy")
            server.forget(name)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
