// What the pointer and the keys do on a map: hover, lasso, box, move, zoom.
const WHEEL = 0.0016, STEP = 0.12;

const inside = (outline, x, y) => {
  let within = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [xi, yi] = outline[i], [xj, yj] = outline[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
};

const rectangle = ([x, y], [u, v]) => [[x, y], [u, y], [u, v], [x, v]];

// Select the rows within an outline of one map, in all maps.
const selectWithin = (view, outline) => {
  const selected = new Uint8Array(N);
  let count = 0;
  for (let i = 0; i < N; i++) {
    if (isShown(i) && inside(outline, view.x(i), view.y(i))) {
      selected[i] = 1;
      count++;
    }
  }
  select(count ? selected : null);
};

const listen = (view) => {
  const canvas = view.over, fingers = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let drag = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 2) {
      [drag, view.outline] = [null, null]; // a pinch, not a lasso
      return;
    }
    if (mode() === "scroll" && event.pointerType !== "mouse") {
      drag = { from: place(event), last: place(event), kind: "none", far: false }; // a finger scrolls the page, or taps
      return;
    }
    const moving = mode() === "move" || event.altKey;
    drag = { from: place(event), last: place(event), kind: moving ? "move" : event.shiftKey ? "box" : "lasso", far: false };
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (fingers.size === 2 && fingers.has(event.pointerId)) return pinch(event.pointerId, [x, y]);
    if (drag === null) return hover(view.nearest(x, y), view, event);
    drag.far ||= Math.hypot(x - drag.from[0], y - drag.from[1]) > 4;
    if (!drag.far || drag.kind === "none") return;
    hover(-1);
    if (drag.kind === "move") view.moveBy(x - drag.last[0], y - drag.last[1]);
    else {
      view.outline = drag.kind === "box" ? rectangle(drag.from, [x, y]) : [...(view.outline || [drag.from]), [x, y]];
      view.drawOver();
    }
    drag.last = [x, y];
  });

  const pinch = (finger, to) => {
    const [other] = [...fingers.keys()].filter((id) => id !== finger), fixed = fingers.get(other), from = fingers.get(finger);
    const gap = ([x, y]) => Math.max(Math.hypot(x - fixed[0], y - fixed[1]), 1);
    view.moveBy((to[0] - from[0]) / 2, (to[1] - from[1]) / 2);
    view.zoomAt((to[0] + fixed[0]) / 2, (to[1] + fixed[1]) / 2, gap(to) / gap(from));
    fingers.set(finger, to);
  };

  const end = (event) => {
    fingers.delete(event.pointerId);
    if (drag === null) return;
    const { far, kind } = drag, outline = view.outline;
    [drag, view.outline] = [null, null];
    if (!far) {
      const at = view.nearest(...place(event));
      if (at < 0 || event.pointerType === "mouse") select(null); // a click; a finger's tap on a point shows it instead
      hover(at, view, event);
    } else if (kind !== "move" && event.type === "pointerup" && outline) selectWithin(view, outline);
    view.drawOver();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && drag === null && hover(-1));
  canvas.addEventListener("dblclick", () => view.reset());

  // The wheel scrolls the page unless the map has the focus, so that nobody is caught in a map.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    view.zoomAt(...place(event), Math.exp(-event.deltaY * (event.deltaMode ? 16 * WHEEL : WHEEL)));
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = [view.width / 2, view.height / 2];
    const act = {
      ArrowLeft: () => view.moveBy(STEP * view.width, 0),
      ArrowRight: () => view.moveBy(-STEP * view.width, 0),
      ArrowUp: () => view.moveBy(0, STEP * view.height),
      ArrowDown: () => view.moveBy(0, -STEP * view.height),
      "+": () => view.zoomAt(...middle, 1.25),
      "=": () => view.zoomAt(...middle, 1.25),
      "-": () => view.zoomAt(...middle, 0.8),
      "−": () => view.zoomAt(...middle, 0.8),
      0: () => view.reset(),
      n: () => step(view, 1),
      p: () => step(view, -1),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
};

// The next row that is shown, for those who have no pointer.
const step = (view, by) => {
  for (let tried = 0, i = state.hovered; tried < N; tried++) {
    i = (i + by + N) % N;
    if (isShown(i) && (state.selected === null || state.selected[i])) {
      const box = view.over.getBoundingClientRect();
      return hover(i, view, { clientX: box.left + view.x(i), clientY: box.top + view.y(i) });
    }
  }
};

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hover(-1);
  select(null);
});
