// The report, and what several parts of the page ask of it.

const {report, sources} = JSON.parse(document.getElementById("report").textContent);

const KINDS = ["parameters", "gradients", "optimizer state", "activations", "other"];
const PHASES = ["data", "forward", "backward", "step", "evaluation", "other"];

/** What the moments and curves have of each quantity. */
const hasCuda = report.curves.cuda !== undefined && report.curves.cuda.some(value => value);
const hasNodes = report.curves.nodes !== undefined;

/** Moments that can be looked into; a page of a very long run leaves some out. */
const moments = report.moments.filter(moment => moment.held);

const folder = commonFolder(
  [...new Set(report.sites.flatMap(site => site.stack.map(frame => frame.file)))]
    .filter(file => file && file.includes("/")));

function shortFile(file) {
  return file.startsWith(folder) ? file.slice(folder.length) : file;
}

/** "train.cpp:41" */
function placeOf(line) {
  if (!line || !line.file)
    return "no line known";
  return shortFile(line.file) + (line.line ? ":" + line.line : "");
}

/** A place with its function; the whole of both as its title. */
function placeElement(line, withFunction = true) {
  if (!line || !line.file)
    return make("span", {class: "quiet"}, "no line known");
  const place = make("span", {
    class: "place",
    title: line.file + ":" + line.line + (line.function ? "\n" + line.function : ""),
  });
  // May be broken after a slash or "::", and nowhere else.
  for (const part of placeOf(line).split(/(?<=\/)/))
    place.append(part, make("wbr"));
  if (withFunction && line.function)
    place.append(make("span", {class: "function"}, " ", shortFunction(line.function)));
  return place;
}

/** What a site, or the process, holds at a moment. */
const MEASURES = {
  bytes: {name: "Bytes", of: state => (state.cpu || 0) + (state.cuda || 0), text: bytes},
  cpu: {name: "CPU", of: state => state.cpu || 0, text: bytes},
  cuda: {name: "CUDA", of: state => state.cuda || 0, text: bytes},
  growth: {name: "Growth", of: state => (state.cpu || 0) + (state.cuda || 0), text: bytes},
  nodes: {name: "Graph nodes", of: state => state.nodes || 0,
    text: value => counted(value, "node")},
};

/** What growth is counted from: the end of the first step, so that what a network needs
 * once is no growth. */
const growthFrom = Math.max(0, moments.findIndex(moment => moment.kind === "after step"));

/** A map from sites to what each holds at a moment, more than 0. */
function heldAt(index, measure) {
  const result = new Map();
  const {of} = MEASURES[measure];
  if (!moments[index])
    return result;
  for (const part of moments[index].held)
    result.set(part.site, of(part));
  if (measure === "growth")
    for (const part of moments[growthFrom].held)
      result.set(part.site, (result.get(part.site) || 0) - of(part));
  for (const [site, value] of result)
    if (!(value > 0))
      result.delete(site);
  return result;
}

/** Where the slider stands at first: at the highest of what the report is about. */
function firstMoment() {
  const failed = moments.findIndex(moment => moment.kind === "failure");
  if (failed >= 0)
    return failed;
  let highest = 0;
  moments.forEach((moment, index) => {
    if (MEASURES.bytes.of(moment) > MEASURES.bytes.of(moments[highest]))
      highest = index;
  });
  return highest;
}

const SIGNALS = {2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
  9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"};

function ending() {
  const {exitCode, signal, timedOut, killedForMemory} = report.program;
  if (timedOut)
    return "ended: its time was over";
  if (killedForMemory)
    return "killed by the kernel: no memory was left";
  if (signal !== undefined)
    return "killed by signal " + signal + (SIGNALS[signal] ? " (" + SIGNALS[signal] + ")" : "");
  if (exitCode !== undefined)
    return exitCode === 0 ? "ended well" : "ended with exit code " + exitCode;
  return "how it ended is not known";
}

/** Places where something happened: peaks and failures. */
const marks = [
  ...["cpu", "cuda"].filter(device => report.peaks[device]).map(device => ({
    seconds: report.peaks[device].seconds, text: device.toUpperCase() + " peak",
    isFailure: false})),
  ...report.moments.filter(moment => moment.kind === "failure").map(moment => ({
    seconds: moment.seconds, text: "allocation failed", isFailure: true})),
];

/** A colour, or whatever the style sheet has under this name. */
function styleOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
