// One map on two canvases: its points below, and what changes with the pointer above.
const MANY = 20000; // points in view above which markers overplot, and densities are shaded
const MARGIN = 0.045; // of the width and height
const state = { coloring: null, hidden: new Set(), selected: null, hovered: -1 }; // shared by all maps

const isShown = (i) => state.hidden.size === 0 || !state.hidden.has(state.coloring.codes()[i]);

// Discs in every color of a palette, drawn once: copying them is quicker than drawing thousands of arcs.
const markers = (palette, radius, edge, alpha) =>
  palette.map((color) => {
    const half = Math.ceil(radius + edge) + 1, disc = document.createElement("canvas"), context = disc.getContext("2d");
    disc.width = disc.height = 2 * half;
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(half, half, radius, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    if (edge > 0) {
      context.strokeStyle = "#ffffff";
      context.lineWidth = edge;
      context.stroke();
    }
    return { disc, half };
  });

class MapView {
  constructor(map, figure) {
    this.map = map;
    this.figure = figure;
    this.base = figure.querySelector(".points");
    this.over = figure.querySelector(".over");
    this.words = figure.querySelector(".words");
    this.zoom = 1;
    this.ratio = Math.max(window.devicePixelRatio || 1, N > MANY ? 1 : 2); // paper has more pixels than a screen
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < 2 * N; i += 2) {
      left = Math.min(left, map.points[i]);
      right = Math.max(right, map.points[i]);
      bottom = Math.min(bottom, map.points[i + 1]);
      top = Math.max(top, map.points[i + 1]);
    }
    this.box = { x: (left + right) / 2, y: (bottom + top) / 2, width: right - left, height: top - bottom };
    this.center = { x: this.box.x, y: this.box.y };
    this.palette = null;
  }

  // The canvases' size in CSS pixels, and the CSS pixels of a unit at the present zoom.
  measure() {
    const { width, height } = this.base.getBoundingClientRect();
    [this.width, this.height] = [width || 300, height || 300];
    const room = 1 - 2 * MARGIN, x = (room * this.width) / (this.box.width || 1e-9), y = (room * this.height) / (this.box.height || 1e-9);
    const unit = Math.min(x, y);
    this.scale = this.zoom * (this.box.width || this.box.height ? unit : 1);
  }

  x(i) { return this.width / 2 + this.scale * (this.map.points[2 * i] - this.center.x); }
  y(i) { return this.height / 2 - this.scale * (this.map.points[2 * i + 1] - this.center.y); }

  inView(i, slack = 4) {
    const x = this.x(i), y = this.y(i);
    return x >= -slack && y >= -slack && x <= this.width + slack && y <= this.height + slack;
  }

  context(canvas) {
    const width = Math.round(this.width * this.ratio), height = Math.round(this.height * this.ratio);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    return context;
  }

  // Draw again at the next frame, once however often it is asked for.
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    window.requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    this.measure();
    const context = this.context(this.base), painted = this.painted(), drawn = [];
    for (let i = 0; i < N; i++) if (isShown(i) && this.inView(i)) drawn.push(i);
    const { selected } = state;
    if (selected === null) this.drawRows(context, drawn, painted, drawn.length);
    else {
      // Rows that are not selected stay as a pale ground for those that are.
      const pale = { palette: ["#d4d4d4"], codes: new Uint8Array(N), shares: null };
      this.drawRows(context, drawn.filter((i) => !selected[i]), pale, drawn.length);
      this.drawRows(context, drawn.filter((i) => selected[i]), painted, drawn.length);
    }
    this.labels = drawGroupLabels(context, this, drawn);
    this.drawOver();
  }

  painted() {
    if (this.palette === null) this.palette = paint(state.coloring, this.map);
    return this.palette;
  }

  drawRows(context, rows, painted, inView) {
    if (inView > MANY) this.shade(context, rows, painted);
    else this.mark(context, rows, painted, inView);
  }

  // In the order of the rows, so that no category covers the others.
  mark(context, rows, painted, inView) {
    const radius = this.radius(inView), edge = inView <= 3000 && painted.shares === null ? 0.5 : 0;
    const discs = markers(painted.palette, radius * this.ratio, edge * this.ratio, inView <= 500 ? 0.92 : 0.8);
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (const i of rows) {
      const { disc, half } = discs[painted.codes[i]];
      context.drawImage(disc, this.ratio * this.x(i) - half, this.ratio * this.y(i) - half);
    }
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  // Smaller in a crowd, and on a small canvas.
  radius(inView) {
    const size = Math.min(Math.max(36 * Math.sqrt(150 / Math.max(inView, 1)), 1.5), 42); // area in square points
    return Math.max(0.62 * Math.sqrt(size) * Math.min(this.width / 560, 1.15), 1.1);
  }

  shade(context, rows, painted) {
    const [width, height] = [this.base.width, this.base.height];
    const spread = Math.max((1.4 * Math.max(width, height)) / 800, 0.85);
    const at = (i) => [this.ratio * this.x(i), this.ratio * this.y(i)];
    const layer = document.createElement("canvas");
    [layer.width, layer.height] = [width, height];
    layer.getContext("2d").putImageData(shadedImage(rows, at, painted, width, height, spread), 0, 0);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(layer, 0, 0); // over what is there, which putImageData would replace
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  drawOver() {
    const context = this.context(this.over);
    if (state.hovered >= 0) drawNeighborLines(context, this, state.hovered);
    if (this.outline && this.outline.length > 1) {
      context.beginPath();
      this.outline.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = "rgba(0, 114, 178, 0.10)";
      context.fill();
      context.strokeStyle = TRUE_NEIGHBOR;
      context.lineWidth = 1.5;
      context.setLineDash([5, 3]);
      context.stroke();
      context.setLineDash([]);
    }
  }

  // The row nearest to a place, within reach of it; -1 for none.
  nearest(x, y, reach = 14) {
    let best = -1, least = reach * reach;
    for (let i = 0; i < N; i++) {
      const dx = this.x(i) - x, dy = this.y(i) - y, squared = dx * dx + dy * dy;
      if (squared < least && isShown(i) && (state.selected === null || state.selected[i] || squared < 16)) [best, least] = [i, squared];
    }
    return best;
  }

  zoomAt(x, y, factor) {
    const zoom = Math.min(Math.max(this.zoom * factor, 0.5), 400), real = zoom / this.zoom;
    const dx = (x - this.width / 2) / this.scale, dy = (this.height / 2 - y) / this.scale;
    this.center = { x: this.center.x + dx * (1 - 1 / real), y: this.center.y + dy * (1 - 1 / real) };
    this.zoom = zoom;
    this.schedule();
  }

  moveBy(dx, dy) {
    this.center = { x: this.center.x - dx / this.scale, y: this.center.y + dy / this.scale };
    this.schedule();
  }

  reset() {
    this.zoom = 1;
    this.center = { x: this.box.x, y: this.box.y };
    this.schedule();
  }
}
