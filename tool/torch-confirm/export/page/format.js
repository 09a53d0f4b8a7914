// How things are written, and how elements are made. All text goes through
// textContent: what a program is called, or says, is never read as HTML.

/** An element: make("td", {class: "number", title: "..."}, "text", child, ...) */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function")
      element.addEventListener(key, value);
    else if (value !== undefined && value !== false)
      element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== null));
  return element;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Three digits that count: "1.23 GiB", "812 MiB". */
function bytes(value) {
  if (value === undefined || value === null)
    return "–";
  let size = Math.abs(value), unit = 0;
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1024;
    ++unit;
  }
  const digits = unit === 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return (value < 0 ? "−" : "") + size.toFixed(digits) + "\u00a0" + UNITS[unit];
}

function count(value) {
  if (value === undefined || value === null)
    return "–";
  return Math.abs(value) < 100 && !Number.isInteger(value)
    ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

/** Not "1.0 graph nodes". */
function counted(value, one, many) {
  return count(value) + "\u00a0" + (value === 1 ? one : many || one + "s");
}

function seconds(value) {
  if (value === undefined || value === null)
    return "–";
  if (value >= 3600)
    return Math.floor(value / 3600) + "\u00a0h\u00a0" +
      Math.round(value % 3600 / 60) + "\u00a0min";
  if (value >= 100)
    return Math.floor(value / 60) + "\u00a0min\u00a0" + Math.round(value % 60) + "\u00a0s";
  if (value >= 1)
    return value.toPrecision(3) + "\u00a0s";
  if (value >= 1e-3)
    return (value * 1e3).toPrecision(3) + "\u00a0ms";
  return value === 0 ? "0\u00a0s" : (value * 1e6).toPrecision(3) + "\u00a0µs";
}

function percent(share) {
  if (share === undefined || share === null)
    return "–";
  return share > 0 && share < 0.01 ? "<1\u00a0%" : Math.round(share * 100) + "\u00a0%";
}

/** A number stays with its unit. */
function unbroken(text) {
  return text.replace(/(\d) (?=%|[KMGT]?i?B\b|m?s\b)/g, "$1\u00a0");
}

/** The folder that all these files are in: not worth repeating. */
function commonFolder(files) {
  let common = null;
  for (const file of files) {
    const folder = file.slice(0, file.lastIndexOf("/") + 1);
    if (common === null)
      common = folder;
    while (!folder.startsWith(common))
      common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
  }
  return common || "";
}

/** "train" of "void app::train<float>(at::Tensor const&) const". */
function shortFunction(name) {
  if (!name)
    return "";
  const lambda = name.includes("{lambda") || name.includes("'lambda") ? " λ" : "";
  let text = "", depth = 0;
  for (const letter of name.replace(/\(anonymous namespace\)/g, "(anonymous)")
    .replace(/operator\s*(\(\)|<=|>=|<<|>>|<|>)/, "operator")) {
    if (letter === "<" || letter === "(" || letter === "{")
      ++depth;
    else if (letter === ">" || letter === ")" || letter === "}")
      depth = Math.max(0, depth - 1);
    else if (depth === 0)
      text += letter;
  }
  const words = text.replace(/\s+(const|noexcept|\[clone.*)$/g, "").trim().split(/\s+/);
  const parts = words[words.length - 1].split("::").filter(part => part);
  return (parts.slice(-2).join("::") || name) + lambda;
}
