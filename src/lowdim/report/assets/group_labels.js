// Names of groups: on a group that is larger than its name, beside a smaller one, where the name covers few points. A
// line leads to a name that is further away.
const LABEL_SIZE = 13, LABEL_PADDING = 3, MOST_GROUPS = 30;
const COVERED = 40, STRAY = 40; // what it costs to cover points, and to be as near to another group, in pixels of distance
const CELL = 4; // of the counts of points, in pixels
const NEAR = 10; // gap up to which no line leads to a name
const SHIFTS = [[0, 0]]; // from the middle of a group, nearest first
for (const ring of [16, 30, 48, 70]) {
  for (let turn = 0; turn < 12; turn++) {
    SHIFTS.push([ring * Math.cos((turn * Math.PI) / 6) * 1.4, ring * Math.sin((turn * Math.PI) / 6)]);
  }
}

// Where each group lies, by the quantiles of some of its rows, and its middle: the median place, moved to the group's own
// row nearest to it, so that it lies on the group.
const groupPlaces = (view, rows, codes, groups) => {
  const members = Array.from({ length: groups }, () => []);
  for (const i of rows) members[codes[i]].push(i);
  return members.map((own) => {
    if (own.length === 0) return null;
    const some = own.length > 400 ? own.filter((_, at) => at % Math.ceil(own.length / 400) === 0) : own;
    const [xs, ys] = [some.map((i) => view.x(i)), some.map((i) => view.y(i))].map((values) => values.sort((a, b) => a - b));
    const quantile = (values, share) => values[Math.floor((values.length - 1) * share)];
    const distance = (i) => (view.x(i) - quantile(xs, 0.5)) ** 2 + (view.y(i) - quantile(ys, 0.5)) ** 2;
    const nearest = some.reduce((best, i) => (distance(i) < distance(best) ? i : best));
    const [left, right, top, bottom] = [quantile(xs, 0.05), quantile(xs, 0.95), quantile(ys, 0.05), quantile(ys, 0.95)];
    return { x: view.x(nearest), y: view.y(nearest), left, right, top, bottom, count: own.length };
  });
};

// The gap between two boxes.
const gapBetween = (a, b) =>
  Math.hypot(Math.max(a.left - b.right, b.left - a.right, 0), Math.max(a.top - b.bottom, b.top - a.bottom, 0));

// Where the name of a group may stand, the best place first. A group that is larger than its name has it in its middle.
const candidates = (place, half, count, others) => {
  const boxAt = ([dx, dy]) => {
    const [x, y] = [place.x + dx, place.y + dy];
    return { x, y, left: x - half.x, right: x + half.x, top: y - half.y, bottom: y + half.y, away: Math.hypot(dx / 1.4, dy) };
  };
  const [wide, high] = [(place.right - place.left) / 2, (place.bottom - place.top) / 2];
  if (wide >= half.x && high >= half.y) return SHIFTS.map(boxAt);
  const [x, y] = [(place.left + place.right) / 2 - place.x, (place.top + place.bottom) / 2 - place.y];
  const beside = [[0, -1], [0, 1], [1, 0], [-1, 0]].map(([dx, dy]) => [x + dx * (wide + half.x + 2), y + dy * (high + half.y)]);
  const boxes = [...beside, ...SHIFTS.slice(1)].map(boxAt);
  const strays = (box) => others.some((other) => other !== place && gapBetween(box, other) <= gapBetween(box, place));
  const cost = (box) => box.away + COVERED * Math.min(count(box) / (half.x * half.y), 1) + (strays(box) ? STRAY : 0);
  return boxes.map((box) => ({ box, cost: cost(box) })).sort((a, b) => a.cost - b.cost).map(({ box }) => box);
};

// Draws the names of the categories in view, the largest group first; returns their boxes.
const drawGroupLabels = (context, view, rows) => {
  const { coloring, selected } = state;
  if (coloring.kind !== "categories" || coloring.names.length > MOST_GROUPS || view.width < 220) return [];
  const inside = rows.filter((i) => view.inView(i, 0) && (selected === null || selected[i]));
  const places = groupPlaces(view, inside, coloring.codes(), coloring.names.length), count = rowCounter(view, inside, CELL);
  const order = [...places.keys()].filter((code) => places[code] && !coloring.absent.includes(code));
  order.sort((a, b) => places[b].count - places[a].count);
  context.font = `600 ${LABEL_SIZE}px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.lineJoin = "round";
  const placed = [], others = places.filter((place) => place !== null);
  for (const code of order) {
    const text = coloring.names[code].length > 24 ? coloring.names[code].slice(0, 23) + "…" : coloring.names[code];
    const half = { x: context.measureText(text).width / 2 + LABEL_PADDING, y: LABEL_SIZE / 2 + LABEL_PADDING };
    const box = candidates(places[code], half, count, others).find((each) => {
      const out = each.left < 0 || each.top < 0 || each.right > view.width || each.bottom > view.height;
      return !out && !placed.some((other) => overlap(each, other));
    });
    if (box) placed.push({ ...box, code, text });
  }
  for (const box of placed) drawLeader(context, places[box.code], box); // below all names
  for (const { text, x, y } of placed) {
    context.strokeStyle = "rgba(255, 255, 255, 0.92)";
    context.lineWidth = 4;
    context.strokeText(text, x, y);
    context.fillStyle = INK;
    context.fillText(text, x, y);
  }
  return placed;
};

// From the middle of a group to the nearest side of its name, unless the name lies on the group or close beside it.
const drawLeader = (context, place, box) => {
  const x = Math.min(Math.max(place.x, box.left), box.right), y = Math.min(Math.max(place.y, box.top), box.bottom);
  if (gapBetween(place, box) <= NEAR) return;
  context.strokeStyle = "#6b6b6b";
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(place.x, place.y);
  context.lineTo(x, y);
  context.stroke();
};
