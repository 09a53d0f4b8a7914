// Answers test/editors/vscode by VS Code's own interface, one line of JSON for each line: what is
// known of a file cannot be read reliably off the window. It opens the file, and changes nothing.
const net = require("net");
const path = require("path");
const vscode = require("vscode");

const plainRange = range => ({
  line: range.start.line, column: range.start.character,
  endLine: range.end.line, endColumn: range.end.character,
});

const requests = {
  async open({file}) {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
    await vscode.window.showTextDocument(document, {preview: false});
    return document.languageId;
  },
  async findings({file}) {
    return vscode.languages.getDiagnostics(vscode.Uri.file(file)).map(each => ({
      ...plainRange(each.range),
      severity: vscode.DiagnosticSeverity[each.severity],
      source: each.source,
      message: each.message,
      code: String(each.code?.value ?? each.code ?? ""),
      page: each.code?.target?.toString() ?? "",
      related: (each.relatedInformation ?? []).map(note => ({
        ...plainRange(note.location.range),
        file: path.basename(note.location.uri.fsPath), message: note.message,
      })),
    }));
  },
  async actions({file, line, column, endLine, endColumn}) {
    const found = await vscode.commands.executeCommand(
      "vscode.executeCodeActionProvider", vscode.Uri.file(file),
      new vscode.Range(line, column, endLine, endColumn));
    return found.map(each => ({title: each.title, kind: each.kind?.value ?? ""}));
  },
  async state({file}) {
    const document = vscode.workspace.textDocuments.find(each => each.uri.fsPath === file);
    const editor = vscode.window.activeTextEditor;
    return {
      activeFile: editor?.document.uri.fsPath ?? "",
      selection: editor && plainRange(editor.selection),
      dirty: document?.isDirty ?? false, text: document?.getText() ?? "",
      vscode: vscode.version,
      extension: vscode.extensions.getExtension("llvm-vs-code-extensions.vscode-clangd")
        ?.packageJSON.version ?? "",
    };
  },
};

async function answer(line) {
  try {
    const {request, ...parameters} = JSON.parse(line);
    return {result: await requests[request](parameters)};
  } catch (error) {
    return {error: String(error?.stack ?? error)};
  }
}

exports.activate = () => {
  const server = net.createServer(connection => {
    let pending = "";
    connection.setEncoding("utf8").on("data", async text => {
      pending += text;
      const lines = pending.split("\n");
      pending = lines.pop();
      for (const line of lines)
        connection.write(JSON.stringify(await answer(line)) + "\n");
    }).on("error", () => {});
  });
  server.listen(process.env.TORCH_VSCODE_OBSERVER);
};
