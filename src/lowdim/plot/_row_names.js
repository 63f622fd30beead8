// Names of rows beside their points, as `_label_placement.py` places them in figures: the most isolated first, each where
// it covers no marker, no name and no leader line, or not at all. They are placed anew when the view changes.
const GAPS = [3, 8, 15, 23, 32, 44, 59, 77]; // between a marker and its name, in pixels
const NEAR = 11; // gaps beyond this get a leader line
const ANGLES = [0, 180, 90, 270, 45, 315, 135, 225, 22, 338, 158, 202, 67, 292, 112, 248]; // preferred first
const PADDING = 1.5, MOST_IN_VIEW = 2000, MOST_NAMES = 150, PATIENCE = 200, NEIGHBORS = 4;
const within = (value, low, high) => Math.min(Math.max(value, low), high);

const CANDIDATES = GAPS.flatMap((gap) =>
  ANGLES.map((angle, rank) => {
    const [x, y] = [Math.cos((angle * Math.PI) / 180), -Math.sin((angle * Math.PI) / 180)];
    return { gap, x, y, cost: gap + 0.2 * rank, shiftX: within(1.42 * x, -1, 1) / 2, shiftY: within(1.42 * y, -1, 1) / 2 };
  }),
).sort((a, b) => a.cost - b.cost);

// The mean distance of every point to its nearest neighbors; points in one place share it.
const isolation = (points) =>
  points.map((point) => {
    const nearest = Array(NEIGHBORS).fill(Infinity);
    let same = 1;
    for (const other of points) {
      const apart = Math.hypot(point.x - other.x, point.y - other.y);
      if (other !== point && apart < 0.2) same++;
      if (apart < 0.2 || apart >= nearest[NEIGHBORS - 1]) continue;
      nearest[NEIGHBORS - 1] = apart;
      nearest.sort((a, b) => a - b);
    }
    const known = nearest.filter(Number.isFinite);
    return known.length ? known.reduce((sum, apart) => sum + apart, 0) / known.length / same : 0;
  });

const side = (line, at) => Math.sign((line.x1 - line.x0) * (at.y - line.y0) - (line.y1 - line.y0) * (at.x - line.x0));
const ends = (line) => [{ x: line.x0, y: line.y0 }, { x: line.x1, y: line.y1 }];
const crosses = (a, b) => {
  const apart = (line, other) => ends(other).map((end) => side(line, end)).reduce((x, y) => x * y) < 0;
  return apart(a, b) && apart(b, a);
};
const goesThrough = (line, box) => { // judged at 12 places along it
  for (let step = 0; step <= 11; step++) {
    const x = line.x0 + (step / 11) * (line.x1 - line.x0), y = line.y0 + (step / 11) * (line.y1 - line.y0);
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
  }
  return false;
};

// The best free box of a name beside a point, with its leader line if it is far; undefined if there is none.
const freeBox = (point, extent, radius, free, placed) => {
  for (const { gap, x, y, shiftX, shiftY } of CANDIDATES) {
    const middle = { x: point.x + (gap + radius) * x + shiftX * extent.x, y: point.y + (gap + radius) * y + shiftY * extent.y };
    const [left, right] = [middle.x - extent.x / 2, middle.x + extent.x / 2];
    const [top, bottom] = [middle.y - extent.y / 2, middle.y + extent.y / 2];
    const box = { ...middle, left, right, top, bottom, leader: null };
    if (!free(box) || placed.some((other) => overlap(box, other) || (other.leader && goesThrough(other.leader, box)))) continue;
    if (gap <= NEAR) return box;
    const leader = { x0: point.x, y0: point.y, x1: within(point.x, left, right), y1: within(point.y, top, bottom) };
    if (placed.some((other) => goesThrough(leader, other) || (other.leader && crosses(leader, other.leader)))) continue;
    return { ...box, leader };
  }
  return undefined;
};

// Names for points { x, y, text } in a frame; `measure` tells the width of a text.
const placeNames = (points, frame, radius, height, measure) => {
  const view = { ...frame, x: (i) => points[i].x, y: (i) => points[i].y }, rows = [...points.keys()];
  const markers = rowCounter(view, rows, 1), apart = isolation(points), placed = [];
  const free = ({ left, right, top, bottom }) =>
    left >= 1 && top >= 1 && right <= frame.width - 1 && bottom <= frame.height - 1 &&
    markers({ left: left - radius, right: right + radius, top: top - radius, bottom: bottom + radius }) === 0;
  let failures = 0;
  for (const i of rows.sort((a, b) => apart[b] - apart[a])) {
    if (placed.length === MOST_NAMES || failures === PATIENCE) break;
    const extent = { x: measure(points[i].text) + 2 * PADDING, y: height + 2 * PADDING };
    const box = freeBox(points[i], extent, radius, free, placed);
    failures = box ? 0 : failures + 1;
    if (box) placed.push({ ...box, point: points[i] });
  }
  return placed;
};

// Points with names that are in view and not hidden, in pixels of the frame; none if they are too many to be told apart.
const namedPoints = (plot, view, column) => {
  const { bbox, x_scale, y_scale } = view.frame, found = [];
  for (const { visible, data_source } of plot.renderers) {
    const texts = column(data_source, "name");
    if (!texts || !visible) continue;
    const [xs, ys] = [column(data_source, "x"), column(data_source, "y")];
    for (let i = 0; i < xs.length; i++) {
      const x = x_scale.compute(xs[i]) - bbox.left, y = y_scale.compute(ys[i]) - bbox.top;
      if (!(x >= 0 && x <= bbox.width && y >= 0 && y <= bbox.height)) continue;
      if (found.length === MOST_IN_VIEW) return [];
      found.push({ x, y, dataX: xs[i], dataY: ys[i], text: texts[i] });
    }
  }
  return found;
};

// A function that writes the names into their annotation and its leader lines.
const rowNames = (plot, view, column) => {
  const labels = plot.center.find((each) => each.name === "row names");
  if (!labels) return () => {};
  const lines = plot.renderers.find((each) => each.tags[0] === "lines-names").data_source;
  const [height, radius] = labels.tags, context = document.createElement("canvas").getContext("2d");
  context.font = `${height}px ${labels.text_font.value}`;
  const write = () => {
    const { bbox, x_scale, y_scale } = view.frame, points = namedPoints(plot, view, column).filter(({ text }) => text.trim());
    const placed = placeNames(points, { width: bbox.width, height: bbox.height }, radius, height, (text) => context.measureText(text).width);
    labels.source.data = {
      x: placed.map(({ point }) => point.dataX),
      y: placed.map(({ point }) => point.dataY),
      text: placed.map(({ point }) => point.text),
      dx: placed.map(({ x, point }) => x - point.x),
      dy: placed.map(({ y, point }) => point.y - y),
    };
    const far = placed.filter(({ leader }) => leader);
    lines.data = {
      x0: far.map(({ point }) => point.dataX),
      y0: far.map(({ point }) => point.dataY),
      x1: far.map(({ leader }) => x_scale.invert(leader.x1 + bbox.left)),
      y1: far.map(({ leader }) => y_scale.invert(leader.y1 + bbox.top)),
    };
  };
  let waiting = 0;
  const soon = () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(write, 80);
  };
  for (const { properties } of [plot.x_range, plot.y_range]) {
    for (const end of [properties.start, properties.end]) end.change.connect(soon);
  }
  for (const size of [plot.properties.inner_width, plot.properties.inner_height]) size.change.connect(soon);
  soon();
  return soon;
};
