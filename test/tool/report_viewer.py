#!/usr/bin/env python3
"""Opens traces of torch-confirm report in the viewer of chrome://tracing (Catapult), and
prints what it has read.

    report_viewer.py --browser PROGRAM --viewer FOLDER FILE...

The viewer is the one that torch-tb-profiler brings; it was written for an earlier kind of
web components, which webcomponents.js gives to a browser of today.
"""

import argparse
import html
import json
import re
import subprocess
import tempfile
from pathlib import Path

READ = """
window.addEventListener('load', () => {
  let answer;
  try {
    const model = new tr.Model();
    const options = new tr.importer.ImportOptions();
    options.shiftWorldToZero = false;
    new tr.importer.Import(model, options).importTraces([TRACE]);
    const depth = slice => slice.parentSlice ? 1 + depth(slice.parentSlice) : 1;
    const lines = model.importWarnings.map(each => 'warning: ' + each.message);
    for (const process of model.getAllProcesses()) {
      lines.push('process ' + process.pid + ' ' + process.name);
      for (const thread of Object.values(process.threads)) {
        const slices = thread.sliceGroup.slices;
        lines.push('thread ' + thread.name + ': ' + slices.length + ' slices, ' +
                   thread.sliceGroup.topLevelSlices.length + ' at the top, depth ' +
                   Math.max(...slices.map(depth)));
      }
      for (const counter of Object.values(process.counters))
        for (const series of counter.series)
          lines.push('counter ' + counter.name + ': ' + series.samples.length +
                     ' samples, up to ' +
                     Math.max(...series.samples.map(each => each.value)) + ' ' + series.name);
      for (const each of process.instantEvents)
        lines.push('mark at ' + Math.round(each.start) + ' ms: ' + each.title);
    }
    answer = lines.join('\\n');
  } catch (error) {
    answer = 'error: ' + error + '\\n' + error.stack;
  }
  document.body.textContent = 'BEGIN' + answer + 'END';
});
"""


def page(viewer: Path, trace: str) -> str:
    words = (viewer / "torch_tb_profiler/static/trace_viewer_full.html").read_text("utf-8")
    components = (viewer / "package/webcomponents.min.js").read_text("utf-8")
    quoted = json.dumps(trace).replace("</", "<\\/")
    begin, head, rest = words.partition("<head")
    end = rest.index(">") + 1
    body = rest.rindex("</body>")
    return (f"{begin}{head}{rest[:end]}<script>{components}</script>{rest[end:body]}"
            f"<script>{READ.replace('TRACE', quoted)}</script>{rest[body:]}")


def read(browser: str, viewer: Path, name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "viewer.html"
        file.write_text(page(viewer, Path(name).read_text("utf-8")), "utf-8")
        run = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
             "--virtual-time-budget=60000", f"--user-data-dir={folder}/profile",
             file.as_uri()], capture_output=True, text=True, timeout=300)
    found = re.search(r"BEGIN(.*)END", run.stdout, re.S)
    assert found, run.stderr[-2000:]
    return html.unescape(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", required=True)
    parser.add_argument("--viewer", type=Path, required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    for name in arguments.files:
        print(f"{Path(name).name}\n{read(arguments.browser, arguments.viewer, name)}")


if __name__ == "__main__":
    main()
