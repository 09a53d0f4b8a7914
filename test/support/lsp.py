"""A client of a language server, as small as a test needs it.

    with Server([clangd, "--some-option"], folder) as server:
        server.open("a.cpp")
        for diagnostic in server.diagnostics("a.cpp"): ...

Positions are the protocol's: lines and columns from 0, columns in UTF-16 units.
"""

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

Message = dict[str, Any]


class ServerError(Exception):
    """The server is gone, silent, or says that it failed."""


class Server:
    # Parsing LibTorch's headers for the first time takes long on a busy machine.
    PATIENCE = 300

    def __init__(self, command: Sequence[str | Path], folder: Path) -> None:
        self.folder = Path(folder).resolve()
        self.errors = open(self.folder / "server.log", "wb")  # noqa: SIM115
        self.process = subprocess.Popen([str(word) for word in command], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        # Both are pipes, whatever Popen says of the general case.
        assert self.process.stdin and self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        # None when the server has ended.
        self.messages: Queue[Message | None] = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.last_id = 0
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        # By URI and version.
        self.published: dict[tuple[str, int | None], list[Message]] = {}
        self.capabilities = self.request("initialize", {
            "processId": None, "rootUri": self.folder.as_uri(),
            "capabilities": {"textDocument": {
                "publishDiagnostics": {"relatedInformation": True, "versionSupport": True,
                                       "codeDescriptionSupport": True},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {
                    "valueSet": ["quickfix"]}}}}}})["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.process.kill()
        self.errors.close()

    def close(self) -> None:
        """Ends the server as the protocol wants it; its exit code must be 0."""
        self.request("shutdown", None)
        self.notify("exit", None)
        if self.process.wait(timeout=60):
            raise ServerError(f"the server ends with {self.process.returncode}")

    # Documents.

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str) -> None:
        self.texts[name] = (self.folder / name).read_text()
        self.versions[name] = 1
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(name), "languageId": "cpp", "version": 1,
            "text": self.texts[name]}})

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.versions[name] += 1
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri(name), "version": self.versions[name]},
            "contentChanges": [{"text": text}]})

    def forget(self, name: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def diagnostics(self, name: str) -> list[Message]:
        """Those of the document as it is now; waits for them."""
        wanted = self.uri(name), self.versions[name]
        while wanted not in self.published:
            self._take()
        return self.published[wanted]

    def actions(self, name: str, diagnostic: Message,
                only: list[str] | None = None) -> list[Message]:
        context: Message = {"diagnostics": [diagnostic]}
        if only:
            context["only"] = only
        return self.request("textDocument/codeAction", {
            "textDocument": {"uri": self.uri(name)}, "range": diagnostic["range"],
            "context": context}) or []

    def apply(self, name: str, action: Message) -> None:
        """Changes the document as the action says."""
        (edits,) = action["edit"]["changes"].values()
        lines = self.texts[name].split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)

        def offset(position: dict[str, int]) -> int:
            line = lines[position["line"]].encode("utf-16-le")
            before = line[:2 * position["character"]].decode("utf-16-le")
            return starts[position["line"]] + len(before)

        text = self.texts[name]
        for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
            text = (text[:offset(edit["range"]["start"])] + edit["newText"]
                    + text[offset(edit["range"]["end"]):])
        self.change(name, text)

    # Messages.

    def request(self, method: str, params: object) -> Any:
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    raise ServerError(f"{method}: {message['error']['message']}")
                return message.get("result")

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        message = {key: value for key, value in message.items() if value is not None}
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.input.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.input.flush()

    def _read(self) -> None:
        out = self.output
        while True:
            length = None
            while (line := out.readline()).strip():
                key, _, value = line.partition(b":")
                if key.lower() == b"content-length":
                    length = int(value)
            if length is None:
                self.messages.put(None)
                return
            self.messages.put(json.loads(out.read(length)))

    def _take(self) -> Message:
        try:
            message = self.messages.get(timeout=self.PATIENCE)
        except Empty:
            raise ServerError("the server says nothing") from None
        if message is None:
            raise ServerError("the server has ended; see server.log")
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"], params.get("version")] = params["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        return message
