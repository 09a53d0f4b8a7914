// Tables that sort by a click, or a key, on a column's head.

/** How many rows are shown before somebody asks for more. */
const FIRST_ROWS = 12;

function numberCell(text) {
  return make("span", {class: "number"}, text);
}

/** A cell with a bar behind its number: share is 0 to 1. */
function barCell(text, share) {
  const cell = make("span", {class: "number bar"}, text);
  cell.style.setProperty("--share", Math.max(0, Math.min(1, share || 0)));
  return cell;
}

/**
 * @param columns {name, of: what is sorted by, show: a cell's content, isNumber,
 *   isMinor: left out on a narrow screen, title}
 * @param options {caption, sortBy: name of a column, from large to small}
 */
function sortedTable(columns, rows, options) {
  // The same column for all rows says nothing.
  columns = columns.filter(column => !column.onlyIf || rows.some(column.onlyIf));
  // -1: as they come.
  let column = columns.findIndex(each => each.name === options.sortBy);
  let isDown = true, isWhole = rows.length <= FIRST_ROWS + 3;
  const body = make("tbody"), more = make("button", {type: "button", class: "more",
    click: () => { isWhole = !isWhole; draw(); }});
  const heads = columns.map((each, index) => make("th", {
    scope: "col", class: classOf(each), title: each.title,
  }, make("button", {type: "button", click: () => {
    isDown = index === column ? !isDown : Boolean(each.isNumber);
    column = index;
    draw();
  }}, each.name, make("span", {class: "arrow", "aria-hidden": "true"}))));

  function classOf(each) {
    return [each.isNumber ? "number" : "", each.isMinor ? "minor" : "",
      each.isPlace ? "wide" : ""].join(" ").trim() || undefined;
  }

  function compare(a, b) {
    const x = columns[column].of(a), y = columns[column].of(b);
    if (x === y)
      return 0;
    // What is not known is last, whichever way it is sorted.
    if (x === undefined || y === undefined)
      return x === undefined ? 1 : -1;
    const order = typeof x === "string" ? x.localeCompare(y, "en", {numeric: true}) : x - y;
    return isDown ? -order : order;
  }

  function draw() {
    heads.forEach((head, index) => {
      if (index === column)
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else
        head.removeAttribute("aria-sort");
    });
    const sorted = column < 0 ? rows : [...rows].sort(compare);
    body.replaceChildren(...sorted.slice(0, isWhole ? sorted.length : FIRST_ROWS).map(row =>
      make("tr", {}, ...columns.map(each =>
        make("td", {class: classOf(each)}, each.show ? each.show(row) : each.of(row))))));
    more.hidden = rows.length <= FIRST_ROWS + 3;
    more.textContent = isWhole ? "Show fewer" : "Show all " + count(rows.length);
  }

  draw();
  return make("div", {class: "table"},
    make("div", {class: "scroll"}, make("table", {},
      make("caption", {class: "hidden"}, options.caption),
      make("thead", {}, make("tr", {}, ...heads)), body)),
    more);
}

/** A part of the page; nothing where there is nothing to show. */
function section(id, title, note, ...content) {
  return make("section", {id, "aria-labelledby": id + "-title"},
    make("h2", {id: id + "-title"}, title),
    note ? make("p", {class: "note"}, note) : null, ...content);
}

/** Shares of a whole as one bar with its legend: [{name, value, color}]. */
function shares(parts, text, label) {
  const all = parts.reduce((sum, part) => sum + part.value, 0);
  const seen = parts.filter(part => part.value > 0);
  const strip = make("div", {class: "strip", "aria-hidden": "true"});
  for (const part of seen) {
    const piece = make("span", {title: part.name + " " + text(part.value)});
    piece.style.flexGrow = part.value / all;
    piece.style.background = part.color;
    strip.append(piece);
  }
  const legend = make("ul", {class: "legend", "aria-label": label});
  for (const part of seen) {
    const key = make("i", {"aria-hidden": "true"});
    key.style.background = part.color;
    legend.append(make("li", {}, key, part.name + " ",
      make("b", {}, text(part.value)), " " + percent(part.value / all)));
  }
  return make("div", {class: "shares"}, strip, legend);
}
