// Peaks, failures and the moment that is looked at, on the curves.

/** @param picked where the slider stands; null: nowhere. */
function drawMarks(plot, picked) {
  const {ctx} = plot, {left, top, width, height} = plot.bbox, dots = devicePixelRatio || 1;
  const line = (at, paint, dash) => {
    const x = plot.valToPos(at, "x", true);
    if (x < left - 1 || x > left + width + 1)
      return;
    ctx.strokeStyle = ctx.fillStyle = paint;
    ctx.lineWidth = 1.5 * dots;
    ctx.setLineDash(dash.map(length => length * dots));
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  };
  ctx.save();
  ctx.font = 11 * dots + "px " + styleOf("sans");
  ctx.textBaseline = "bottom";
  for (const mark of marks)
    line(mark.seconds, styleOf(mark.isFailure ? "bad" : "text"), [3, 3]);
  drawNames(plot, dots);
  if (picked !== null) {
    line(picked, styleOf("accent"), []);
    const x = plot.valToPos(picked, "x", true), size = 6 * dots;
    ctx.beginPath();
    ctx.moveTo(x - size, top);
    ctx.lineTo(x + size, top);
    ctx.lineTo(x, top + size * 1.3);
    if (x >= left && x <= left + width)
      ctx.fill();
  }
  ctx.restore();
}

/** Names of the marks, above the curves; those that are near to each other together. */
function drawNames(plot, dots) {
  const {ctx} = plot, {left, top, width} = plot.bbox;
  const names = [];
  for (const mark of [...marks].sort((a, b) => a.seconds - b.seconds)) {
    const x = plot.valToPos(mark.seconds, "x", true), last = names[names.length - 1];
    if (x < left - 1 || x > left + width + 1)
      continue;
    if (last && x - last.x < 110 * dots) {
      last.texts.add(mark.text);
      last.isFailure = last.isFailure || mark.isFailure;
    } else {
      names.push({x, texts: new Set([mark.text]), isFailure: mark.isFailure});
    }
  }
  for (const {x, texts, isFailure} of names) {
    const isRight = x > left + width * 0.6;
    ctx.fillStyle = styleOf(isFailure ? "bad" : "text");
    ctx.textAlign = isRight ? "right" : "left";
    ctx.fillText([...texts].join(", "), x + (isRight ? 4 : -4) * dots, top - 2 * dots);
  }
}
