// The page around Bokeh's plot: a selector of components, the legend's buttons, and the keyboard.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const { names, axes } = JSON.parse(byId("components").textContent);
  let plot = null, view = null;

  const column = (source, name) => (source.data instanceof Map ? source.data.get(name) : source.data[name]);
  const put = (source, name, values) => {
    if (source.data instanceof Map) source.data.set(name, values);
    else source.data[name] = values;
  };

  // Component i on the x or y axis: the working columns x and y take the place of another one.
  const show = (axis, i) => {
    for (const renderer of plot.renderers) {
      const source = renderer.data_source;
      put(source, axis, column(source, `c${i}`));
      source.change.emit();
    }
    for (const panel of axis === "x" ? plot.below : plot.left) {
      if (panel.axis_label && panel.axis_label.text !== undefined) panel.axis_label.text = axes[i];
    }
    view.reset();
  };

  const move = (x, y) => {
    for (const [range, share] of [[plot.x_range, x], [plot.y_range, y]]) {
      const step = share * (range.end - range.start);
      range.setv({ start: range.start + step, end: range.end + step });
    }
  };
  const zoom = (factor) => {
    for (const range of [plot.x_range, plot.y_range]) {
      const middle = (range.start + range.end) / 2, half = (factor * (range.end - range.start)) / 2;
      range.setv({ start: middle - half, end: middle + half });
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
    window.lowdimPage = { plot, view }; // for tests
  };

  const wait = () => {
    const ready = window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle && Bokeh.index.roots.length;
    if (ready) start();
    else window.setTimeout(wait, 30);
  };
  wait();
})();
