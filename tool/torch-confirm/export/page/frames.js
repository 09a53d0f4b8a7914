// One moment: a slider over all of them, the flame graph, and tables of who holds what.

class MomentView {
  /** @param onMove is told the time that is shown. */
  constructor(onMove) {
    this.onMove = onMove;
    this.index = firstMoment();
    this.measure = "bytes";
    this.host = document.getElementById("memory");
    if (!moments.length) {
      this.host.append(make("h2", {}, "Who holds it"), make("p", {class: "empty"},
        "No moment was recorded at which something was alive."));
      return;
    }
    this.title = make("output", {class: "moment", for: "moment"});
    this.details = make("p", {class: "details"});
    this.flameHost = make("div", {class: "flame"});
    this.legend = make("div");
    this.lines = make("div");
    this.host.append(
      make("div", {class: "head"}, make("h2", {}, "Who holds it"), this.title),
      make("div", {class: "tools"}, this.slider(), this.measures()),
      this.legend, this.flameHost, this.details, this.lines);
    this.flame = new Flame(this.flameHost, this.details);
    this.draw();
  }

  slider() {
    this.range = make("input", {type: "range", id: "moment", min: 0, step: 1,
      max: moments.length - 1, "aria-label": "Moment",
      input: () => this.go(Number(this.range.value))});
    this.range.value = this.index;
    const step = (text, label, by) => make("button", {type: "button", "aria-label": label,
      title: label, click: () => this.go(this.index + by)}, text);
    const jumps = [["Peak", () => this.highest("cpu")], ["CUDA peak", () => this.highest("cuda")],
      ["Failure", () => moments.findIndex(moment => moment.kind === "failure")],
      ["End", () => moments.length - 1]].filter(([name, find]) => find() >= 0 &&
        (name !== "CUDA peak" || hasCuda));
    const bar = make("div", {class: "slider"}, step("‹", "The moment before", -1), this.range,
      step("›", "The next moment", 1), make("div", {class: "buttons"},
        ...jumps.map(([name, find]) =>
          make("button", {type: "button", click: () => this.go(find())}, name))));
    bar.hidden = moments.length < 2;
    return bar;
  }

  /** Of what is measured: all that says something. */
  measures() {
    const names = ["bytes", ...(hasCuda ? ["cpu", "cuda"] : []),
      ...(moments.length > 1 ? ["growth"] : []), ...(hasNodes ? ["nodes"] : [])];
    const group = make("div", {class: "switch", role: "group", "aria-label": "What is shown"});
    for (const name of names)
      group.append(make("button", {type: "button", "data-measure": name,
        title: name === "growth" ? "What each line holds more than at " +
          seconds(moments[growthFrom].seconds) : undefined,
        click: () => {
          this.measure = name;
          this.draw();
        }}, MEASURES[name].name));
    this.group = group;
    return group;
  }

  highest(device) {
    const peak = report.peaks[device];
    const exact = peak ? moments.indexOf(report.moments[peak.moment]) : -1;
    if (exact >= 0)
      return exact;
    let best = 0;
    moments.forEach((moment, index) => {
      if ((moment[device] || 0) > (moments[best][device] || 0))
        best = index;
    });
    return best;
  }

  go(index) {
    this.index = Math.max(0, Math.min(moments.length - 1, index));
    this.range.value = this.index;
    this.draw();
  }

  /** Of a click into the curves. */
  goTo(time) {
    if (!moments.length)
      return;
    let best = 0;
    moments.forEach((moment, index) => {
      if (Math.abs(moment.seconds - time) < Math.abs(moments[best].seconds - time))
        best = index;
    });
    this.go(best);
  }

  words() {
    const moment = moments[this.index], parts = ["at " + seconds(moment.seconds)];
    if (moment.iterations)
      parts.push("after " + counted(moment.iterations, "iteration"));
    if (moment.cpu !== undefined)
      parts.push(bytes(moment.cpu) + " CPU");
    if (hasCuda && moment.cuda !== undefined)
      parts.push(bytes(moment.cuda) + " CUDA, " + bytes(moment.reserved) + " reserved");
    if (moment.nodes !== undefined)
      parts.push(counted(moment.nodes, "graph node"));
    const kinds = {"cpu peak": "the peak", "cuda peak": "the CUDA peak",
      "failure": "an allocation failed"};
    return (kinds[moment.kind] ? kinds[moment.kind] + ", " : "") + parts.join(" · ");
  }

  draw() {
    if (!this.flame)
      return;
    const words = this.words();
    this.title.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
    for (const button of this.group.children)
      button.setAttribute("aria-pressed", button.dataset.measure === this.measure);
    this.flame.show(this.index, this.measure);
    const held = heldAt(this.index, this.measure);
    this.drawLegend(held);
    this.drawLines(held);
    this.onMove(moments[this.index].seconds);
  }

  drawLegend(held) {
    const {text} = MEASURES[this.measure], byKind = new Map(), byPhase = new Map();
    for (const [place, value] of held) {
      const {memory = "other", phase = "other"} = report.sites[place];
      byKind.set(memory, (byKind.get(memory) || 0) + value);
      byPhase.set(phase, (byPhase.get(phase) || 0) + value);
    }
    this.legend.replaceChildren(shares(KINDS.map((kind, index) => ({name: kind,
      value: byKind.get(kind) || 0, color: "var(--kind-" + index + ")"})), text, "By kind"));
    const phases = PHASES.filter(phase => byPhase.get(phase));
    if (phases.length)
      this.legend.append(make("p", {class: "note"}, "Made in: " + phases
        .sort((a, b) => byPhase.get(b) - byPhase.get(a))
        .map(phase => phase + " " + text(byPhase.get(phase))).join(", ")));
  }

  /** Sites of one line together; the line is the innermost of the user's. */
  drawLines(held) {
    const {text, name} = MEASURES[this.measure], lines = new Map();
    let all = 0;
    for (const [place, value] of held) {
      const site = report.sites[place], line = site.stack[0], key = placeOf(line);
      const row = lines.get(key) || {line, key, value: 0, operations: new Set(), kinds: new Set()};
      lines.set(key, row);
      row.value += value;
      row.operations.add(site.operation);
      row.kinds.add(site.memory || "other");
      all += value;
    }
    const most = Math.max(...[...lines.values()].map(row => row.value));
    this.lines.replaceChildren(make("h3", {}, "Lines at this moment"),
      lines.size ? sortedTable([
        {name: "Line", of: row => row.key, show: row => placeElement(row.line), isPlace: true},
        {name: this.measure === "nodes" ? "Nodes" : name, of: row => row.value, isNumber: true,
          show: row => barCell(text(row.value), row.value / most)},
        {name: "Share", of: row => row.value / all, isNumber: true, isMinor: true,
          show: row => percent(row.value / all)},
        {name: "What", of: row => [...row.kinds].join(", ")},
        {name: "Operations", of: row => [...row.operations].sort().join(", "), isMinor: true},
      ], [...lines.values()], {caption: "Lines at this moment",
        sortBy: this.measure === "nodes" ? "Nodes" : name})
        : make("p", {class: "empty"}, "None."));
  }
}
