// Curves of memory and of graph nodes over time, by uPlot.

const PHASE_BANDS = ["forward", "backward", "step"];
/** An iteration has its phases drawn where it is at least so wide, in pixels. */
const PHASES_FROM = 9, BANDS_FROM = 3;

/** 1, 2, 4 ... KiB: whole numbers in the unit that is shown. */
const BYTE_STEPS = Array.from({length: 46}, (_, power) => 2 ** power);
const COUNT_STEPS = Array.from({length: 12}, (_, power) => 10 ** power)
  .flatMap(power => [power, 2 * power, 5 * power]);

class Curves {
  /** @param onPick is told a time that was clicked at. */
  constructor(onPick) {
    this.onPick = onPick;
    this.plots = [];
    this.at = null;
    this.host = make("div", {class: "plots"});
    this.bands = make("p", {class: "note bands", "aria-live": "off"});
    this.range = null;
  }

  /** Buttons do what the mouse does by dragging. */
  controls() {
    const button = (text, label, action) =>
      make("button", {type: "button", "aria-label": label, title: label, click: action}, text);
    return make("div", {class: "buttons noprint"},
      button("+", "Zoom in, around the moment below", () => this.zoom(0.5)),
      button("−", "Zoom out", () => this.zoom(2)),
      button("Whole run", "Show the whole run", () => this.show(null)));
  }

  zoom(factor) {
    const [from, to] = this.shown();
    const middle = this.at !== null && this.at >= from && this.at <= to
      ? this.at : (from + to) / 2;
    const [least, most] = this.whole(), width = Math.min(most - least, (to - from) * factor);
    const begin = Math.max(least, Math.min(most - width, middle - width / 2));
    this.show([begin, begin + width]);
  }

  /** The end of the axis, even where nothing was recorded so late. */
  whole() {
    const times = report.curves.seconds;
    return [0, Math.max(times[times.length - 1], report.program.seconds) || 1];
  }

  shown() {
    return this.range || this.whole();
  }

  show(range) {
    const [least, most] = this.whole();
    this.range = range && (range[0] > least || range[1] < most)
      ? [Math.max(least, range[0]), Math.min(most, range[1])] : null;
    const [min, max] = this.shown();
    for (const plot of this.plots)
      plot.setScale("x", {min, max});
  }

  /** Of a curve, the last that was measured until the slider's time. */
  valueAt(column) {
    const times = report.curves.seconds;
    let result;
    for (let index = 0; index < times.length && times[index] <= this.at; ++index)
      if (column[index] !== null)
        result = column[index];
    return result;
  }

  series(name, label, stroke, dash, text) {
    return {name, label, stroke: styleOf(stroke), width: 1.5, dash, spanGaps: true,
      points: {show: report.curves.seconds.length < 40},
      // Where the mouse is, or else where the slider stands.
      value: (plot, value, place, index) => text(index === null || index === undefined
        ? this.valueAt(plot.data[place]) : value)};
  }

  draw() {
    for (const plot of this.plots)
      plot.destroy();
    this.plots = [];
    const {curves} = report;
    const memory = [
      this.series("resident", "process", "curve-resident", [2, 3], bytes),
      this.series("reserved", "reserved", "curve-reserved", [7, 4], bytes),
      this.series("cuda", "CUDA tensors", "curve-cuda", undefined, bytes),
      this.series("cpu", "CPU tensors", "curve-cpu", undefined, bytes),
    ].filter(each => curves[each.name] && (each.name === "cpu" ||
      curves[each.name].some(value => value)));
    if (memory.length)
      this.add(memory, 260, bytes, "Memory over time");
    if (hasNodes && curves.nodes.some(value => value))
      this.add([this.series("nodes", "graph nodes", "curve-nodes", undefined, count)], 150,
        count, "Nodes of autograd graphs over time");
    this.tellBands();
  }

  add(series, height, text, label) {
    const host = make("div", {class: "plot", role: "img", "aria-label": label + ": " +
      series.map(each => each.label + " up to " + text(Math.max(...report.curves[each.name]
        .map(value => value || 0)))).join(", ")});
    this.host.append(host);
    const axis = {stroke: styleOf("quiet"), font: "11px " + styleOf("sans"),
      grid: {stroke: styleOf("grid"), width: 1}, ticks: {stroke: styleOf("grid"), width: 1}};
    const [min, max] = this.shown();
    const plot = new uPlot({
      width: this.width(), height,
      // Above the curves is room for the names of the marks.
      padding: [16, 12, 0, 0],
      cursor: {sync: {key: "run"}, drag: {x: true, y: false}, points: {size: 6}},
      scales: {x: {time: false, min, max}, y: {range: (_, __, most) => [0, (most || 1) * 1.06]}},
      axes: [{...axis, size: 30, values: (_, ticks) => ticks.map(tick => +tick.toFixed(6) + " s")},
        {...axis, size: 64, values: (_, ticks) => ticks.map(text),
          ...(text === bytes ? {incrs: BYTE_STEPS} : {incrs: COUNT_STEPS})}],
      series: [{label: "at", value: (_, value) =>
        seconds(value === null || value === undefined ? this.at : value)}, ...series],
      hooks: {
        drawClear: [each => this.drawBands(each)],
        draw: [each => drawMarks(each, this.at)],
        setSelect: [each => this.picked(each)],
        setScale: [(each, key) => key === "x" && this.follow(each)],
      },
    }, [report.curves.seconds, ...series.map(each => report.curves[each.name])], host);
    plot.over.addEventListener("click", event => {
      if (!this.dragged)
        this.onPick(plot.posToVal(event.offsetX, "x"));
      this.dragged = false;
    });
    plot.over.addEventListener("mousedown", () => { this.dragged = false; });
    plot.over.addEventListener("dblclick", () => this.show(null));
    this.plots.push(plot);
  }

  picked(plot) {
    this.dragged = plot.select.width > 2;
  }

  /** All plots show the same time. */
  follow(plot) {
    const {min, max} = plot.scales.x, [least, most] = this.whole();
    if (min === null || this.isFollowing)
      return;
    this.isFollowing = true;
    this.range = min > least || max < most ? [min, max] : null;
    for (const other of this.plots)
      if (other !== plot && (other.scales.x.min !== min || other.scales.x.max !== max))
        other.setScale("x", {min, max});
    this.isFollowing = false;
    this.tellBands();
  }

  width() {
    return this.forced || Math.max(240, this.host.clientWidth);
  }

  resize(forced) {
    this.forced = forced;
    for (const plot of this.plots)
      plot.setSize({width: this.width(), height: plot.height});
    this.tellBands();
  }

  /** The iterations that are in sight, and how wide one is on the screen. */
  visible() {
    const [from, to] = this.shown();
    const list = report.iterations.recorded.filter(each => each.end >= from && each.begin <= to);
    const mean = list.reduce((sum, each) => sum + each.end - each.begin, 0) / (list.length || 1);
    return {list, pixels: mean / (to - from) * (this.width() - 64)};
  }

  tellBands() {
    const {list, pixels} = this.visible();
    this.bands.replaceChildren();
    if (!list.length)
      return;
    if (pixels < PHASES_FROM) {
      this.bands.append(pixels < BANDS_FROM
        ? "Iterations are too many to be told apart here; zoom in to see them, and their phases."
        : "Every other iteration is shaded; zoom in to see their phases.");
      return;
    }
    for (const phase of PHASE_BANDS) {
      const key = make("i", {"aria-hidden": "true"});
      key.style.background = styleOf("phase-" + phase);
      this.bands.append(make("span", {class: "key"}, key,
        phase === "forward" ? "data and forward" : phase), " ");
    }
  }

  drawBands(plot) {
    const {list, pixels} = this.visible();
    const {ctx} = plot, {left, top, width, height} = plot.bbox;
    const fill = (from, to, paint) => {
      const x = Math.max(left, plot.valToPos(from, "x", true));
      const end = Math.min(left + width, plot.valToPos(to, "x", true));
      ctx.fillStyle = paint;
      if (end > x)
        ctx.fillRect(x, top, end - x, height);
    };
    ctx.save();
    for (const each of pixels >= BANDS_FROM ? list : []) {
      if (pixels < PHASES_FROM) {
        if (each.number % 2)
          fill(each.begin, each.end, styleOf("band"));
        continue;
      }
      const step = each.stepBegin === undefined ? each.end : each.stepBegin;
      fill(each.begin, each.backwardBegin === undefined ? step : each.backwardBegin,
        styleOf("phase-forward"));
      if (each.backwardBegin !== undefined)
        fill(each.backwardBegin, each.backwardEnd, styleOf("phase-backward"));
      fill(step, each.end, styleOf("phase-step"));
    }
    ctx.restore();
  }

  /** Where the slider stands. */
  mark(at) {
    this.at = at;
    for (const plot of this.plots) {
      plot.redraw(false);
      plot.setLegend({idx: null});
    }
  }
}
