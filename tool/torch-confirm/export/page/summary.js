// What is on top: what the run came to, and the causes.

function fact(name, value, title) {
  return make("div", {class: "fact", title}, make("dt", {}, name), make("dd", {}, value));
}

function facts() {
  const {program, totals, growth, iterations} = report;
  const list = [fact("Run", seconds(program.seconds))];
  if (totals.peakCpu !== undefined)
    list.push(fact("Peak, CPU tensors", bytes(totals.peakCpu)));
  if (totals.peakCuda)
    list.push(fact("Peak, CUDA tensors", bytes(totals.peakCuda)));
  if (totals.peakReserved)
    list.push(fact("Peak, reserved", bytes(totals.peakReserved),
      "What LibTorch had taken of the device, in use or not"));
  if (totals.peakResident !== undefined)
    list.push(fact("Peak, process", bytes(totals.peakResident),
      "Resident memory of the process: tensors and all else"));
  if (iterations.count)
    list.push(fact("Iterations", count(iterations.count)));
  if (growth.trend === "grows")
    list.push(fact("Growth", bytes(growth.bytesPerUnit) + " / " + growth.unit));
  // At the end there are none, where a kept graph ends with its owner.
  if (hasNodes)
    list.push(fact("Graph nodes at most",
      count(report.curves.nodes.reduce((most, value) => Math.max(most, value || 0), 0))));
  for (const device of report.devices)
    list.push(fact("Device " + device.index + " ran no kernel",
      percent(device.idleShare) + " of " + seconds(device.seconds)));
  if (report.evaluation)
    list.push(fact("Peak, evaluation", bytes(report.evaluation.peak)));
  return make("dl", {class: "facts"}, ...list);
}

function drawHeader() {
  const {program} = report;
  const isBad = program.timedOut || program.signal !== undefined || program.exitCode;
  document.getElementById("top").append(
    make("div", {class: "line"},
      make("span", {class: "brand"}, "torch-confirm report"),
      make("span", {class: "badge" + (isBad ? " bad" : "")}, ending()),
      make("span", {class: "quiet about"}, [
        program.libtorch ? "LibTorch " + program.libtorch : null,
        program.cudaDevice || "CPU",
      ].filter(part => part).join(" · ")),
      make("button", {type: "button", id: "theme", click: switchTheme})),
    report.failure ? make("p", {class: "failure"}, unbroken(report.failure.text)) : "",
    make("h1", {}, unbroken(report.headline)),
    make("p", {class: "command", title: "The command"}, program.command.join(" ")),
    facts());
}

/** The lines around a cause's, where the page was made with them. */
function sourceOf(line) {
  const found = sources.find(each => each.file === line.file && each.line === line.line);
  if (!found)
    return null;
  const indent = Math.min(...found.lines.filter(text => text.trim())
    .map(text => text.length - text.trimStart().length));
  const code = make("pre", {class: "source"});
  found.lines.forEach((text, index) => {
    const number = found.first + index;
    code.append(make("span", {class: number === found.line ? "row here" : "row"},
      make("span", {class: "no", "aria-hidden": "true"}, String(number).padStart(4) + "  "),
      text.slice(indent) || " "));
  });
  return code;
}

const CAUSE_NAMES = {
  "kept graphs": "graphs are kept", "kept tensors": "tensors are kept",
  "peak": "most of the peak", "recorded evaluation": "evaluation records a graph",
};

function costOf(cause) {
  const parts = [];
  if (cause.bytesPerUnit !== undefined)
    parts.push(make("b", {}, "+" + bytes(cause.bytesPerUnit)), " per " + report.growth.unit);
  else
    parts.push(make("b", {}, bytes(cause.bytes)));
  if (cause.nodesPerUnit)
    parts.push(", " + counted(cause.nodesPerUnit, "graph node") + " per " + report.growth.unit);
  return make("p", {class: "cost"}, ...parts);
}

function factsOf(cause) {
  const peak = Math.max(report.totals.peakCpu || 0, report.totals.peakCuda || 0);
  const grows = cause.bytesPerUnit !== undefined;
  const list = [fact(grows ? "Grew by" : "Held at the peak", bytes(cause.bytes) +
    (cause.nodes ? ", " + counted(cause.nodes, "node") : "")),
  fact(grows ? "Of the growth" : "Of the peak",
    percent(cause.share))];
  if (cause.peakWithout < peak)
    list.push(fact("Peak without it", bytes(cause.peakWithout) + " of " + bytes(peak)));
  if (cause.check)
    list.push(fact("Known to", make("code", {}, cause.check),
      "torch-tidy --explain=" + cause.check));
  return make("dl", {class: "facts small"}, ...list);
}

function causeElement(cause, index) {
  const chain = make("ol", {class: "chain"},
    ...cause.stack.map(frame => make("li", {}, placeElement(frame))));
  const share = make("div", {class: "share", "aria-hidden": "true"});
  share.style.setProperty("--share", cause.share);
  return make("article", {class: "cause"},
    make("header", {},
      make("span", {class: "rank", "aria-hidden": "true"}, String(index + 1)),
      make("h3", {}, placeElement(cause.line)),
      make("span", {class: "tag"}, CAUSE_NAMES[cause.kind] || cause.kind)),
    costOf(cause), share, factsOf(cause),
    cause.cure ? make("p", {class: "cure"}, unbroken(cause.cure)) : null,
    sourceOf(cause.line),
    cause.stack.length > 1 ? make("details", {},
      make("summary", {}, "Called from " + counted(cause.stack.length - 1, "line")), chain)
      : null);
}

function drawCauses() {
  const part = document.getElementById("causes");
  if (!report.causes.length) {
    part.remove();
    return;
  }
  part.append(
    make("h2", {}, report.growth.trend === "grows" ? "Why memory grows" : "Where memory goes"),
    make("div", {class: "causes"}, ...report.causes.map(causeElement)));
}
