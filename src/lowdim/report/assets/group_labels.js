// Names of groups, placed on them: in the middle of each where there is room, beside it with a line otherwise.
const LABEL_SIZE = 13, LABEL_PADDING = 3, MOST_GROUPS = 30;
const SHIFTS = [[0, 0]]; // from the middle of a group, nearest first
for (const ring of [16, 30, 48, 70]) {
  for (let turn = 0; turn < 12; turn++) {
    SHIFTS.push([ring * Math.cos((turn * Math.PI) / 6) * 1.4, ring * Math.sin((turn * Math.PI) / 6)]);
  }
}

// The middle of each group: the median place, moved to the group's own row nearest to it, so that it lies on the group.
const groupMiddles = (view, rows, codes, groups) => {
  const members = Array.from({ length: groups }, () => []);
  for (const i of rows) members[codes[i]].push(i);
  return members.map((own) => {
    if (own.length === 0) return null;
    const some = own.length > 400 ? own.filter((_, at) => at % Math.ceil(own.length / 400) === 0) : own;
    const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    const x = middle(some.map((i) => view.x(i))), y = middle(some.map((i) => view.y(i)));
    const distance = (i) => (view.x(i) - x) ** 2 + (view.y(i) - y) ** 2;
    const nearest = some.reduce((best, i) => (distance(i) < distance(best) ? i : best));
    return { x: view.x(nearest), y: view.y(nearest), count: own.length };
  });
};

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Draws the names of the categories in view, the largest group first; returns their boxes.
const drawGroupLabels = (context, view, rows) => {
  const { coloring, selected } = state;
  if (coloring.kind !== "categories" || coloring.names.length > MOST_GROUPS || view.width < 220) return [];
  const inside = rows.filter((i) => view.inView(i, 0) && (selected === null || selected[i]));
  const middles = groupMiddles(view, inside, coloring.codes(), coloring.names.length);
  const order = [...middles.keys()].filter((code) => middles[code] && !coloring.absent.includes(code));
  order.sort((a, b) => middles[b].count - middles[a].count);
  context.font = `600 ${LABEL_SIZE}px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.lineJoin = "round";
  const placed = [];
  for (const code of order) {
    const text = coloring.names[code].length > 24 ? coloring.names[code].slice(0, 23) + "…" : coloring.names[code];
    const half = { x: context.measureText(text).width / 2 + LABEL_PADDING, y: LABEL_SIZE / 2 + LABEL_PADDING };
    for (const [dx, dy] of SHIFTS) {
      const [x, y] = [middles[code].x + dx, middles[code].y + dy];
      const box = { left: x - half.x, right: x + half.x, top: y - half.y, bottom: y + half.y, code, text };
      const out = box.left < 0 || box.top < 0 || box.right > view.width || box.bottom > view.height;
      if (out || placed.some((other) => overlap(box, other))) continue;
      placed.push(box);
      if (dx || dy) drawLeader(context, middles[code], x, y, half);
      context.strokeStyle = "rgba(255, 255, 255, 0.92)";
      context.lineWidth = 4;
      context.strokeText(text, x, y);
      context.fillStyle = INK;
      context.fillText(text, x, y);
      break;
    }
  }
  return placed;
};

const drawLeader = (context, middle, x, y, half) => {
  const share = Math.max(1 - Math.min(half.x / Math.abs(x - middle.x || 1e-9), half.y / Math.abs(y - middle.y || 1e-9)), 0);
  context.strokeStyle = "#6b6b6b";
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(middle.x, middle.y);
  context.lineTo(middle.x + share * (x - middle.x), middle.y + share * (y - middle.y));
  context.stroke();
};
