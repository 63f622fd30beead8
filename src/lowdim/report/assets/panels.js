// What stands around the maps: the choice of a color, its legend, the tooltip, the words about a row, the selection.
// Texts of the data are always set as text, never as HTML.
const VIEWS = [];
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const mode = () => document.querySelector('input[name="mode"]:checked').value;
const redraw = () => VIEWS.forEach((view) => view.schedule());

// ---- colors ----

const colorBy = (coloring) => {
  state.coloring = coloring;
  state.hidden = new Set();
  for (const view of VIEWS) view.palette = null;
  drawLegend();
  redraw();
};

const drawLegend = () => {
  const { coloring } = state, legend = byId("legend");
  if (coloring.kind === "none") return legend.replaceChildren();
  legend.replaceChildren(...(coloring.kind === "categories" ? categoryButtons(coloring) : [colorBar(coloring)]));
};

const categoryButtons = (coloring) => {
  const buttons = coloring.names.map((name, code) => {
    const dot = element("i");
    dot.style.background = coloring.colors[code];
    const button = element("button", { type: "button", "aria-pressed": "true", title: `${name}: ${counted(coloring.counts[code], "row")}` }, dot, element("span", {}, name));
    button.addEventListener("click", () => {
      if (!state.hidden.delete(code)) state.hidden.add(code);
      button.setAttribute("aria-pressed", String(!state.hidden.has(code)));
      hover(-1);
      redraw();
    });
    return button;
  });
  const all = element("button", { type: "button", class: "plain" }, "show all");
  all.addEventListener("click", () => colorBy(coloring));
  return [...buttons, all];
};

const colorBar = (coloring) => {
  const bar = element("b"), text = coloring.dates ? day : number;
  bar.style.background = `linear-gradient(to right, ${SCALE.filter((_, i) => i % 7 === 0).join(", ")})`;
  const ticks = [0, 0.5, 1].map((share) => element("span", {}, text(coloring.low + share * (coloring.high - coloring.low))));
  const words = coloring.words ? [element("p", {}, coloring.words)] : [];
  return element("div", { class: "scale" }, bar, element("div", {}, ...ticks), ...words);
};

const fillColorChoice = () => {
  const choice = byId("color"), groups = new Map();
  COLORINGS.forEach((coloring, i) => {
    if (!groups.has(coloring.group)) groups.set(coloring.group, element("optgroup", { label: coloring.group }));
    groups.get(coloring.group).append(new Option(coloring.title, String(i)));
  });
  choice.append(...groups.values());
  choice.addEventListener("change", () => colorBy(COLORINGS[Number(choice.value)]));
};

// ---- a row ----

// Mark a row in every map, with its neighbors and its words; -1 marks none.
const hover = (i, view = null, event = null) => {
  const tip = byId("tip");
  if (i < 0) tip.hidden = true;
  else if (view !== null) showTip(tip, i, event);
  if (i === state.hovered) return;
  state.hovered = i;
  for (const one of VIEWS) {
    one.drawOver();
    one.words.textContent = i < 0 ? one.map.words : pointWords(one.map, i);
    one.words.classList.toggle("row", i >= 0);
  }
};

const rowName = (i) => (DATA.ids === null ? `row ${i.toLocaleString("en-US")}` : DATA.ids[i]);

const valueText = (coloring, i) => {
  if (coloring.kind === "categories") return coloring.names[coloring.codes()[i]];
  const value = coloring.values()[i];
  return coloring.dates && Number.isFinite(value) ? day(value) : number(value);
};

const showTip = (tip, i, event) => {
  if (tip.hidden || tip.dataset.row !== String(i)) {
    tip.dataset.row = String(i);
    const lines = [...COLORINGS.filter((one) => one.group === "Label" || one.group === "Text" || (one.group === "Columns" && DATA.images === null)).slice(0, 14).map((one) => [one.title, valueText(one, i)]),
      ...DATA.texts.map(({ title, values }) => [title, values[i]])];
    const list = element("dl", {}, ...lines.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
    tip.replaceChildren(element("strong", {}, rowName(i)), ...picture(i), list);
    tip.hidden = false;
  }
  const { width, height } = tip.getBoundingClientRect(), room = document.documentElement;
  const left = event.clientX + 18 + width > room.clientWidth ? event.clientX - 18 - width : event.clientX + 18;
  const top = Math.min(Math.max(event.clientY - height / 2, 6), room.clientHeight - height - 6);
  tip.style.transform = `translate(${Math.max(left, 6)}px, ${Math.max(top, 6)}px)`;
};

const picture = (i) => {
  const pixels = thumbnail();
  if (pixels === null) return [];
  const [height, width, channels] = DATA.images.shape, size = height * width * channels;
  const canvas = element("canvas", { width, height, role: "img", "aria-label": `The image of ${rowName(i)}` });
  const image = new ImageData(width, height);
  for (let pixel = 0; pixel < height * width; pixel++) {
    for (let c = 0; c < 3; c++) image.data[4 * pixel + c] = pixels[i * size + pixel * channels + Math.min(c, channels - 1)];
    image.data[4 * pixel + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return [canvas];
};

// ---- a group ----

const select = (selected) => {
  if (selected === null && state.selected === null) return;
  state.selected = selected;
  drawSelection();
  redraw();
};

const selectedRows = () => (state.selected === null ? [] : Array.from(state.selected.keys()).filter((i) => state.selected[i]));

const mean = (values, rows) => {
  const known = rows.map((i) => values[i]).filter((value) => value === value);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
};

const drawSelection = () => {
  const panel = byId("selection"), rows = selectedRows();
  panel.hidden = rows.length === 0;
  if (rows.length === 0) return panel.replaceChildren();
  const share = ((100 * rows.length) / N).toFixed(rows.length / N < 0.1 ? 1 : 0);
  const clear = element("button", { type: "button" }, "Clear"), copy = element("button", { type: "button" }, "Copy row names");
  clear.addEventListener("click", () => select(null));
  copy.addEventListener("click", () => copyText(rows.map((i) => (DATA.ids === null ? i : DATA.ids[i])).join("\n"), copy));
  const head = element("p", { class: "head" }, element("strong", {}, `${counted(rows.length, "row")} selected`), ` (${share}% of all) `, copy, clear);
  panel.replaceChildren(head, ...composition(rows), groupTrust(rows));
};

// The labels of the selected rows, the most frequent first, with their shares.
const composition = (rows) => {
  const labels = COLORINGS.find((one) => one.kind === "categories" && one.group === "Label") ?? COLORINGS.find((one) => one.kind === "categories");
  if (!labels) return [];
  const counts = new Array(labels.names.length).fill(0);
  for (const i of rows) counts[labels.codes()[i]]++;
  const order = [...counts.keys()].filter((code) => counts[code]).sort((a, b) => counts[b] - counts[a]);
  const parts = order.slice(0, 8).map((code) => {
    const dot = element("i");
    dot.style.background = labels.colors[code];
    return element("li", {}, dot, `${labels.names[code]}: ${counts[code].toLocaleString("en-US")} (${Math.round((100 * counts[code]) / rows.length)}%)`);
  });
  if (order.length > 8) parts.push(element("li", {}, `${order.length - 8} others`));
  return [element("ul", { class: "parts" }, ...parts)];
};

// The mean of every measure per row over the selected rows, beside that over all rows.
const groupTrust = (rows) => {
  const all = Array.from({ length: N }, (_, i) => i);
  const head = element("tr", {}, element("th", {}, "mean of the selected rows (of all rows)"), ...MAPS.map((map) => element("th", {}, map.name)));
  const body = DATA.trust.map((measure) => {
    const cells = MAPS.map((map) => {
      if (!(measure.name in map.trust)) return element("td", {}, "–");
      const values = map.trust[measure.name]();
      return element("td", {}, mean(values, rows).toFixed(2), element("small", {}, ` (${mean(values, all).toFixed(2)})`));
    });
    return element("tr", {}, element("th", { scope: "row" }, measure.title), ...cells);
  });
  return element("div", { class: "wide-table" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
};

// ---- copying ----

const copyText = async (text, button) => {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { readonly: "" }); // where a page from a file may not use the clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  window.setTimeout(() => { button.textContent = before; }, 1200);
};
