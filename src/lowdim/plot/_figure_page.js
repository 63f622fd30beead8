// The page of a figure: tooltips at the places that the plot noted, and a view that zooms and moves.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("figure"), svg = main.querySelector("svg");
  const tooltip = document.getElementById("tooltip");
  const REACH = 14, MOST = 3, MOST_ZOOM = 40; // pixels around the pointer, texts at once
  const full = [0, 0, data.width, data.height];
  let view = full.slice();
  svg.removeAttribute("width");
  svg.removeAttribute("height");

  function show() {
    svg.setAttribute("viewBox", view.join(" "));
  }

  // A client's place in the units of the drawing.
  function place(x, y) {
    const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  function zoom(factor, [x, y]) {
    const width = Math.min(Math.max(view[2] / factor, data.width / MOST_ZOOM), data.width);
    const share = width / view[2];
    view = [x - (x - view[0]) * share, y - (y - view[1]) * share, width, view[3] * share];
    if (width === data.width) view = full.slice();
    show();
  }

  function move(dx, dy) {
    const within = (start, size, whole) => Math.min(Math.max(start, -size / 2), whole - size / 2);
    view[0] = within(view[0] + dx, view[2], data.width);
    view[1] = within(view[1] + dy, view[3], data.height);
    show();
  }

  const center = () => [view[0] + view[2] / 2, view[1] + view[3] / 2];

  // The texts of what lies under a place: the nearest points within reach that share one spot, or a cell.
  function found([x, y]) {
    const unit = 1 / svg.getScreenCTM().a;
    const near = [];
    for (const { places, texts } of data.tooltips) {
      places.forEach((at, i) => {
        if (at.length === 4) {
          const inside = (v, a, b) => v >= Math.min(a, b) && v <= Math.max(a, b);
          if (inside(x, at[0], at[2]) && inside(y, at[1], at[3])) near.push([REACH, texts[i]]);
          return;
        }
        const apart = Math.hypot(at[0] - x, at[1] - y) / unit;
        if (apart <= REACH) near.push([apart, texts[i]]);
      });
    }
    near.sort((a, b) => a[0] - b[0]);
    return near.filter(([apart]) => apart <= near[0][0] + 2).slice(0, MOST).map(([, text]) => text);
  }

  function tell(event) {
    const texts = found(place(event.clientX, event.clientY));
    tooltip.hidden = texts.length === 0;
    if (tooltip.hidden) return;
    tooltip.replaceChildren(
      ...texts.flatMap((text) =>
        text.split("\n").map((line, i) => {
          const part = document.createElement("div");
          part.textContent = line;
          if (i === 0) part.className = "head";
          return part;
        }),
      ),
    );
    const box = tooltip.getBoundingClientRect();
    const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14;
    const top = Math.min(event.clientY + 14, innerHeight - box.height - 4);
    tooltip.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  }

  const pointers = new Map();
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    tell(event);
  });
  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      tell(event);
      return;
    }
    tooltip.hidden = true;
    if (pointers.size === 2) {
      const [other] = [...pointers.values()].filter((each) => each.pointerId !== event.pointerId);
      const spread = (each) => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY);
      const middle = place((event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
      if (spread(before) > 0) zoom(spread(event) / spread(before), middle);
    } else {
      const from = place(before.clientX, before.clientY), to = place(event.clientX, event.clientY);
      move(from[0] - to[0], from[1] - to[1]);
    }
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
  svg.addEventListener("pointerleave", () => {
    tooltip.hidden = true;
  });
  svg.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), place(event.clientX, event.clientY));
      tell(event);
    },
    { passive: false },
  );
  main.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = view[2] / 10;
    const actions = {
      ArrowLeft: () => move(-step, 0),
      ArrowRight: () => move(step, 0),
      ArrowUp: () => move(0, -step),
      ArrowDown: () => move(0, step),
      "+": () => zoom(1.3, center()),
      "=": () => zoom(1.3, center()),
      "-": () => zoom(1 / 1.3, center()),
      0: () => zoom(0, center()),
      Escape: () => {
        tooltip.hidden = true;
      },
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });
  show();
})();
