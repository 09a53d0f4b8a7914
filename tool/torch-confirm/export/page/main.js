// Puts the page together.

function most(rows, key) {
  return Math.max(...rows.map(row => row[key])) || 1;
}

/** What was alive when most was; of one module it is what the picture shows. */
function drawPeakTables(device, add) {
  const peak = report.peaks[device], name = device.toUpperCase();
  if (peak.byModule.length > 1)
    add(peak.byModule, rows => section("activations-" + device, "Activations at the peak, " + name,
      "by the class whose forward() made them", sortedTable([
        {name: "Module", of: row => row.module, show: row => make("code", {}, row.module)},
        {name: "Activations", of: row => row.activations, isNumber: true,
          show: row => barCell(bytes(row.activations),
            row.activations / most(rows, "activations"))},
      ], rows, {caption: "Activations by module", sortBy: "Activations"})));
  add(peak.varying, rows => section("varying-" + device, "Blocks of many sizes, " + name,
    "what the allocator keeps of them fits the next one badly", sortedTable([
      {name: "Line", of: row => placeOf(row.line), show: row => placeElement(row.line),
        isPlace: true},
      {name: "Sizes at least", of: row => row.kinds, isNumber: true, show: row => count(row.kinds)},
      {name: "Taken in all", of: row => row.bytes, isNumber: true, show: row => bytes(row.bytes)},
    ], rows, {caption: "Lines with blocks of many sizes", sortBy: "Taken in all"})));
}

/** Tables of the whole run. */
function drawTables() {
  const host = document.getElementById("tables");
  const add = (rows, build) => rows && rows.length && host.append(build(rows));
  add(report.iterations.rows, rows => section("iterations", "Iterations",
    counted(report.iterations.count, "iteration") +
      "; bytes of all tensors before, between and after what one does", sortedTable([
      {name: "Which", of: row => row.which},
      {name: "Number", of: row => row.number, isNumber: true, show: row => count(row.number)},
      {name: "Time", of: row => row.end - row.begin, isNumber: true,
        show: row => seconds(row.end - row.begin)},
      ...[["Before", "bytesBefore"], ["After forward", "bytesAtBackward"],
        ["After backward", "bytesAfterBackward"], ["After step", "bytesAfter"],
        ["Peak", "peak"]].map(([name, key]) => ({name, of: row => row[key], isNumber: true,
        show: row => bytes(row[key]), onlyIf: row => row[key] !== undefined})),
      {name: "Nodes after", of: row => row.nodesAfter, isNumber: true,
        show: row => count(row.nodesAfter), onlyIf: row => row.nodesAfter !== undefined},
    ], rows, {caption: "Iterations", sortBy: null})));
  add(report.iterations.epochs, rows => section("epochs", "Epochs",
    "iterations between two evaluations, of those that were recorded", sortedTable([
      {name: "Epoch", of: row => rows.indexOf(row) + 1, isNumber: true},
      {name: "Iterations", of: row => row.first,
        show: row => count(row.first) + " to " + count(row.last)},
      {name: "Time", of: row => row.end - row.begin, isNumber: true,
        show: row => seconds(row.end - row.begin)},
      {name: "Peak", of: row => row.peak, isNumber: true, show: row => bytes(row.peak)},
      {name: "After", of: row => row.bytesAfter, isNumber: true,
        show: row => bytes(row.bytesAfter)},
    ], rows, {caption: "Epochs", sortBy: null})));
  add(report.times.rows, rows => section("time", "Time", null,
    shares(PHASES.map((phase, index) => ({name: phase,
      value: report.times.byPhase[phase] || 0, color: "var(--time-" + index + ")"})),
    seconds, "By phase"), sortedTable([
      {name: "Operation", of: row => row.operation, show: row => make("code", {}, row.operation)},
      {name: "Line", of: row => placeOf(row.line), show: row => placeElement(row.line),
        isPlace: true},
      {name: "Time", of: row => row.seconds, isNumber: true,
        show: row => barCell(seconds(row.seconds), row.seconds / most(rows, "seconds"))},
      {name: "Share", of: row => row.share, isNumber: true, show: row => percent(row.share)},
      {name: "Calls", of: row => row.hits, isNumber: true, show: row => count(row.hits)},
      {name: "Waits", of: row => row.waits, isNumber: true, show: row => count(row.waits),
        title: "The host waits for what it reads, or would on a device",
        onlyIf: row => row.waits},
    ], rows, {caption: "Time by operation and line", sortBy: "Time"})));
  add(report.copies, rows => section("copies", "Copies", null, sortedTable([
    {name: "Line", of: row => placeOf(row.line), show: row => placeElement(row.line),
      isPlace: true},
    {name: "Kind", of: row => row.from + " → " + row.to + (row.converts ? ", converts" : "") +
      (row.pinned ? ", pinned" : "")},
    {name: "Bytes", of: row => row.bytes, isNumber: true, show: row => bytes(row.bytes)},
    {name: "Copies", of: row => row.count, isNumber: true, show: row => count(row.count)},
    {name: "Again", of: row => row.again, isNumber: true, show: row => count(row.again),
      title: "Copies of the tensor of the time before, with the same contents",
      onlyIf: row => row.again},
  ], rows, {caption: "Copies by line", sortBy: "Bytes"})));
  add(report.modules, rows => section("modules", "Modules", null, sortedTable([
    {name: "Module", of: row => row.path, show: row => make("code", {}, row.path || "(the network)")},
    {name: "Parameters", of: row => row.parameterBytes, isNumber: true,
      show: row => barCell(bytes(row.parameterBytes),
        row.parameterBytes / most(rows, "parameterBytes"))},
    {name: "Tensors", of: row => row.parameters, isNumber: true},
    {name: "With gradient", of: row => row.withGradient, isNumber: true,
      show: row => row.withGradient + " of " + row.parameters},
    {name: "Gradients", of: row => row.gradientBytes, isNumber: true,
      show: row => bytes(row.gradientBytes), onlyIf: row => row.gradientBytes},
    {name: "Optimizer", of: row => row.optimizerBytes, isNumber: true,
      show: row => bytes(row.optimizerBytes), onlyIf: row => row.optimizerBytes},
    {name: "Buffers", of: row => row.bufferBytes, isNumber: true,
      show: row => bytes(row.bufferBytes), onlyIf: row => row.buffers},
    {name: "Type and device", of: row => row.kinds.join(", ")},
  ], rows, {caption: "Parameters and buffers by module", sortBy: "Parameters"})));
  for (const device of ["cpu", "cuda"])
    if (report.peaks[device])
      drawPeakTables(device, add);
  add(report.oddities, rows => section("oddities", "Worth a look", null,
    make("ul", {}, ...rows.map(row => make("li", {}, row.text)))));
  add(report.checked, rows => section("checked", "Looked for", null,
    make("ul", {}, ...rows.map(row => make("li", {}, ...(row.fine
      ? ["\u2713 " + row.what]
      : ["\u2717 " + row.seen + " ", make("code", {}, placeOf(row.line)), " ",
          make("code", {}, row.check)]))))));
  add([...report.notMeasured, ...report.limits], rows => section("unmeasured",
    "What was not measured", null, make("ul", {}, ...rows.map(row => make("li", {},
      make("code", {}, row.quantity), row.reason ? ": " + row.reason : "")))));
}

const views = {};

function isDark() {
  const asked = document.documentElement.dataset.theme;
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** What is drawn takes its colours once; the rest follows by itself. */
function recolor() {
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  if (views.curves)
    views.curves.draw();
  if (views.moment)
    views.moment.draw();
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  recolor();
}

function drawCurves() {
  const host = document.getElementById("curves");
  if (!report.curves.seconds.length) {
    host.append(make("h2", {}, "Over time"),
      make("p", {class: "empty"}, "Nothing was recorded over time."));
    return;
  }
  views.curves = new Curves(time => views.moment.goTo(time));
  host.append(make("div", {class: "head"}, make("h2", {}, "Over time"), views.curves.controls()),
    views.curves.host, views.curves.bands);
  views.curves.draw();
}

function resize(forced) {
  if (views.curves)
    views.curves.resize(forced);
  if (views.moment && views.moment.flame) {
    views.moment.flame.forced = forced;
    views.moment.draw();
  }
}

function main() {
  drawHeader();
  drawCauses();
  drawCurves();
  views.moment = new MomentView(time => views.curves && views.curves.mark(time));
  drawTables();
  recolor();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width)
      resize();
    width = innerWidth;
  });
  // Paper is light, and as wide as A4 has it.
  let theme;
  addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    recolor();
    resize(700);
  });
  addEventListener("afterprint", () => {
    if (theme)
      document.documentElement.dataset.theme = theme;
    else
      delete document.documentElement.dataset.theme;
    recolor();
    resize();
  });
}

main();
