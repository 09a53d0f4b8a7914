// The flame graph of one moment, by d3-flame-graph: callers on top of what they
// call, as wide as what is held because of them.

const CELL = 20;

/** Sites that hold most at any time come first, at all moments: frames stay in place
 * while the slider moves. */
const rankOfSite = (() => {
  const most = new Map();
  for (const moment of moments)
    for (const part of moment.held)
      most.set(part.site, Math.max(most.get(part.site) || 0, MEASURES.bytes.of(part)));
  const order = [...most.keys()].sort((a, b) => most.get(b) - most.get(a));
  return new Map(order.map((site, rank) => [site, rank]));
})();

/** The frames from the outermost to the operation. */
function framesOf(site) {
  const frames = site.stack.map(frame => ({
    key: placeOf(frame) + frame.function,
    name: (shortFunction(frame.function) + "  " + placeOf(frame)).trim(),
    line: frame,
  })).reverse();
  if (!frames.length)
    frames.push({key: "", name: "no line known"});
  frames.push({key: "operation " + site.operation, name: site.operation});
  return frames;
}

/** \returns what d3-flame-graph takes; each frame knows its kinds of memory. */
function treeAt(index, measure) {
  const {text} = MEASURES[measure];
  const root = {name: "", key: "", value: 0, children: [], rank: 0, kinds: new Map()};
  for (const [place, value] of heldAt(index, measure)) {
    const site = report.sites[place], rank = rankOfSite.get(place) || 0;
    let node = root;
    const add = () => {
      node.value += value;
      node.kinds.set(site.memory, (node.kinds.get(site.memory) || 0) + value);
    };
    add();
    for (const frame of framesOf(site)) {
      node.byKey = node.byKey || new Map();
      let child = node.byKey.get(frame.key);
      if (!child) {
        child = {...frame, value: 0, children: [], rank, kinds: new Map(), shapes: new Set()};
        node.byKey.set(frame.key, child);
        node.children.push(child);
      }
      child.rank = Math.min(child.rank, rank);
      node = child;
      add();
    }
    for (const shape of site.shapes)
      node.shapes.add(shape.text);
  }
  root.name = "all: " + text(root.value);
  return root;
}

/** What most of a frame's memory is. */
function kindOf(node) {
  let best = "other", most = 0;
  for (const [kind, value] of node.kinds)
    if (value > most)
      [best, most] = [kind, value];
  return best || "other";
}

function depthOf(site) {
  return framesOf(site).length + 1;
}

class Flame {
  /** @param details where a frame is told of in words. */
  constructor(host, details) {
    this.host = host;
    this.details = details;
    this.zoomed = [];
    this.chart = null;
    // As high as any moment needs: what is below does not jump.
    this.depth = Math.max(3, ...[...rankOfSite.keys()].map(site => depthOf(report.sites[site])));
    host.addEventListener("keydown", event => this.key(event));
    host.addEventListener("focusin", event => {
      const node = event.target.closest("g.frame");
      if (node)
        this.tell(d3.select(node).datum());
    });
    host.addEventListener("mouseover", event => {
      const node = event.target.closest("g.frame");
      this.tell(node ? d3.select(node).datum() : null);
    });
  }

  show(index, measure) {
    this.measure = measure;
    this.root = treeAt(index, measure);
    this.host.replaceChildren();
    this.chart = null;
    this.tell(null);
    if (!this.root.value) {
      this.host.append(make("p", {class: "empty"}, measure === "nodes"
        ? "No node of a graph was alive." : measure === "growth"
          ? "No line holds more than at the moment that growth is counted from."
          : "Nothing was alive."));
      return;
    }
    this.chart = flamegraph.default().width(this.width()).height(this.depth * CELL)
      .cellHeight(CELL).inverted(true).transitionDuration(0).minFrameSize(1.5)
      .sort((a, b) => a.data.rank - b.data.rank)
      .setColorMapper(each => styleOf("kind-" + KINDS.indexOf(kindOf(each.data))))
      .setLabelHandler(each => this.words(each.data))
      .onClick(each => {
        this.zoomed = each.ancestors().reverse().slice(1).map(node => node.data.key);
        this.finish();
      });
    d3.select(this.host).datum(this.root).call(this.chart);
    this.zoomAgain();
    this.finish();
  }

  width() {
    return this.forced || Math.max(240, this.host.clientWidth);
  }

  /** As near to where it was zoomed before as this moment has it. */
  zoomAgain() {
    let node = d3.select(this.host).datum();
    for (const key of this.zoomed) {
      const child = (node.children || []).find(each => each.data.key === key);
      if (!child)
        break;
      node = child;
    }
    if (node.parent)
      this.chart.zoomTo(node);
  }

  resetZoom() {
    this.zoomed = [];
    if (this.chart)
      this.chart.resetZoom();
    this.finish();
  }

  /** What the library leaves to do: names for those who do not see it, one place to tab to,
   * and a size that follows that of the paper. */
  finish() {
    const svg = this.host.querySelector("svg");
    svg.setAttribute("viewBox", "0 0 " + this.width() + " " + this.depth * CELL);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label",
      "Flame graph; arrow keys go from frame to frame, Enter zooms in, Escape out");
    this.frames = [...svg.querySelectorAll("g.frame")];
    this.frames.forEach((node, index) => {
      const words = this.words(d3.select(node).datum().data);
      node.setAttribute("tabindex", index ? "-1" : "0");
      node.setAttribute("role", "button");
      node.setAttribute("aria-label", words);
      // The library does this a moment later, which is too late for a printer.
      node.querySelector("rect").setAttribute("width", node.getAttribute("width"));
      node.querySelector("div").textContent = d3.select(node).datum().data.name;
    });
  }

  words(node) {
    const {text} = MEASURES[this.measure];
    const share = percent(node.value / this.root.value);
    return (node.key === "" && node.kinds === this.root.kinds ? "all" : node.name) + ": " +
      text(node.value) + ", " + share;
  }

  tell(frame) {
    this.details.replaceChildren();
    if (!frame) {
      this.details.append(make("span", {class: "quiet"},
        "Point at a frame, or go to it by the arrow keys; click or Enter zooms in."));
      return;
    }
    const {data} = frame, {text} = MEASURES[this.measure];
    this.details.append(make("b", {}, data.name), " ");
    if (data !== this.root)
      this.details.append(text(data.value) + ", " + percent(data.value / this.root.value));
    if (data.kinds.size)
      this.details.append(make("span", {class: "quiet"}, " · " + [...data.kinds]
        .sort((a, b) => b[1] - a[1]).slice(0, 3).map(([kind, value]) =>
          kind + " " + text(value)).join(", ")));
    if (data.shapes && data.shapes.size)
      this.details.append(make("span", {class: "quiet"},
        " · " + [...data.shapes].slice(0, 3).join("; ")));
  }

  key(event) {
    const node = event.target.closest("g.frame");
    if (!node)
      return;
    const frame = d3.select(node).datum();
    const row = depth => this.frames.filter(each => {
      const {depth: other, data} = d3.select(each).datum();
      return other === depth && !data.hide;
    }).sort((a, b) => d3.select(a).datum().x0 - d3.select(b).datum().x0);
    const near = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1], ArrowDown: [1]}[event.key];
    let next = null;
    if (near && near[0] === 0) {
      const list = row(frame.depth);
      next = list[list.indexOf(node) + near[1]];
    } else if (near) {
      // The parent, or the widest child.
      next = row(frame.depth + near[0]).filter(each => {
        const other = d3.select(each).datum();
        return other === frame.parent || other.parent === frame;
      }).sort((a, b) => d3.select(b).datum().value - d3.select(a).datum().value)[0];
    } else if (event.key === "Enter" || event.key === " ") {
      this.chart.zoomTo(frame);
    } else if (event.key === "Escape") {
      this.resetZoom();
    } else {
      return;
    }
    event.preventDefault();
    const target = next || (near ? node : this.frames[0]);
    for (const each of this.frames)
      each.setAttribute("tabindex", each === target ? "0" : "-1");
    target.focus();
  }
}
