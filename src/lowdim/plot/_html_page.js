// The page around Bokeh's plot: a selector of components, the legend's buttons, and the keyboard.
{
  const byId = (id) => document.getElementById(id);
  const { names, axes } = JSON.parse(byId("components").textContent);
  let plot = null, view = null, nameRows = () => {};

  const column = (source, name) => (source.data instanceof Map ? source.data.get(name) : source.data[name]);
  const put = (source, name, values) => {
    if (source.data instanceof Map) source.data.set(name, values);
    else source.data[name] = values;
  };

  const isRows = (renderer) => !String(renderer.tags[0]).startsWith("lines-");

  // Lines from the point under the cursor to its neighbors. Row numbers are little-endian 32-bit integers.
  const near = JSON.parse(byId("neighbors").textContent);
  const decode = (text) => new Int32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const lists = near.k ? { true: decode(near.true), drawn: decode(near.drawn) } : null;
  let places = null, linesOf = -1;
  const placesOfRows = () => { // of all rows, whichever category they belong to
    const found = { x: [], y: [], hidden: [] };
    for (const renderer of plot.renderers) {
      const rows = column(renderer.data_source, "row");
      if (!rows) continue;
      for (const axis of ["x", "y"]) column(renderer.data_source, axis).forEach((value, i) => { found[axis][rows[i]] = value; });
      rows.forEach((row) => { found.hidden[row] = !renderer.visible; });
    }
    return found;
  };
  const drawLines = (name, row, others) => {
    const shown = others.filter((other) => !places.hidden[other]);
    const from = (axis) => shown.map(() => places[axis][row]), to = (axis) => shown.map((other) => places[axis][other]);
    const source = plot.renderers.find((renderer) => renderer.tags[0] === `lines-${name}`).data_source;
    source.data = { x0: from("x"), y0: from("y"), x1: to("x"), y1: to("y") };
  };
  const connect = (row) => {
    if (!lists || row === linesOf) return;
    linesOf = row;
    places ??= placesOfRows();
    const own = (list) => (row < 0 ? [] : [...list.subarray(row * near.k, (row + 1) * near.k)]);
    const truly = own(lists.true), known = new Set(truly);
    drawLines("true", row, truly);
    drawLines("false", row, own(lists.drawn).filter((other) => !known.has(other)));
  };
  const hovered = () => {
    for (const renderer of plot.renderers) {
      const { inspected } = renderer.data_source, rows = column(renderer.data_source, "row");
      if (rows && renderer.visible && inspected.indices.length) return rows[inspected.indices[0]];
    }
    return -1;
  };

  // Component i on the x or y axis: the working columns x and y take the place of another one.
  const show = (axis, i) => {
    connect(-1);
    places = null;
    for (const renderer of plot.renderers.filter(isRows)) {
      const source = renderer.data_source;
      put(source, axis, column(source, `c${i}`));
      source.change.emit();
    }
    for (const panel of axis === "x" ? plot.below : plot.left) {
      if (panel.axis_label && panel.axis_label.text !== undefined) panel.axis_label.text = axes[i];
    }
    view.reset();
    nameRows();
  };

  // A range that follows its data until the reader has chosen another, as Bokeh's own tools do.
  const choose = (range, start, end) => {
    range.have_updated_interactively = true;
    range.setv({ start, end });
  };
  const move = (x, y) => {
    for (const [range, share] of [[plot.x_range, x], [plot.y_range, y]]) {
      const step = share * (range.end - range.start);
      choose(range, range.start + step, range.end + step);
    }
  };
  const zoom = (factor) => {
    for (const range of [plot.x_range, plot.y_range]) {
      const middle = (range.start + range.end) / 2, half = (factor * (range.end - range.start)) / 2;
      choose(range, middle - half, middle + half);
    }
  };
  const clear = () => {
    for (const { data_source } of plot.renderers) data_source.selected.indices = [];
  };

  const KEYS = {
    ArrowLeft: () => move(-0.1, 0),
    ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, 0.1),
    ArrowDown: () => move(0, -0.1),
    "+": () => zoom(0.8),
    "=": () => zoom(0.8),
    "-": () => zoom(1.25),
    "−": () => zoom(1.25),
    0: () => view.reset(),
    Home: () => view.reset(),
    Escape: clear,
  };

  const toggle = (button) => {
    const visible = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(visible));
    for (const renderer of plot.renderers) {
      if (renderer.tags[0] === Number(button.dataset.code)) renderer.visible = visible;
    }
    connect(-1);
    places = null;
    nameRows();
  };

  const start = () => {
    plot = Bokeh.documents[0].roots()[0];
    view = [...Bokeh.index.roots].find((root) => root.model === plot);
    byId("plot").addEventListener("keydown", (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    for (const button of document.querySelectorAll("#legend button")) button.addEventListener("click", () => toggle(button));
    for (const axis of ["x", "y"]) {
      const select = byId(`${axis}-component`);
      if (!select) continue;
      for (const [i, name] of names.entries()) select.append(new Option(name, String(i)));
      select.value = axis === "x" ? "0" : "1";
      select.addEventListener("change", () => show(axis, Number(select.value)));
    }
    window.addEventListener("beforeprint", () => { plot.toolbar.visible = false; });
    window.addEventListener("afterprint", () => { plot.toolbar.visible = true; });
    if (lists) {
      byId("plot").addEventListener("pointermove", () => requestAnimationFrame(() => connect(hovered())));
      byId("plot").addEventListener("pointerleave", () => connect(-1));
    }
    nameRows = rowNames(plot, view, column);
    window.lowdimPage = { plot, view, connect }; // for tests
  };

  const wait = () => {
    const ready = window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle && Bokeh.index.roots.length;
    if (ready) start();
    else window.setTimeout(wait, 30);
  };
  wait();
}
