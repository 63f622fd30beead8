"use strict";
// The page of a tour: projects rows onto frames, one after another, and lets the reader drag a column's axis by hand.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const { n, d, columns, palette, legend } = data;
  const rows = new Float32Array(bytes(data.rows)); // (n, d)
  const codes = new Uint8Array(bytes(data.codes)); // (n,) places in the palette, ascending
  const frames = new Float32Array(bytes(data.frames)); // (m, d, 2)
  const m = frames.length / (2 * d);
  const FRAMES_PER_SECOND = data.framesPerSecond;
  const BLEND_SECONDS = 1; // from a frame set by hand back to the tour

  // ---- frames: d pairs (x, y), the loadings of the columns ----

  // The symmetric root of a 2 × 2 matrix [a, b, c] = [[a, b], [b, c]], and the inverse.
  const root = ([a, b, c]) => {
    const s = Math.sqrt(Math.max(a * c - b * b, 0));
    const t = Math.sqrt(Math.max(a + c + 2 * s, 1e-12));
    return [(a + s) / t, b / t, (c + s) / t];
  };
  const inverse = ([a, b, c]) => {
    const det = Math.max(a * c - b * b, 1e-12);
    return [c / det, -b / det, a / det];
  };

  const gram = (F, without = -1) => {
    const sums = [0, 0, 0];
    for (let j = 0; j < d; j++) {
      if (j === without) continue;
      const x = F[2 * j], y = F[2 * j + 1];
      sums[0] += x * x;
      sums[1] += x * y;
      sums[2] += y * y;
    }
    return sums;
  };

  const times = (F, [a, b, c], without = -1) => {
    for (let j = 0; j < d; j++) {
      if (j === without) continue;
      const x = F[2 * j], y = F[2 * j + 1];
      F[2 * j] = a * x + b * y;
      F[2 * j + 1] = b * x + c * y;
    }
    return F;
  };

  const orthonormal = (F) => times(F, inverse(root(gram(F))));

  // A frame of the tour between its neighbors, which are so close that a straight line is as good as the geodesic.
  const frameAt = (position) => {
    const i = Math.min(Math.floor(position), m - 1), next = Math.min(i + 1, m - 1), u = position - i;
    const F = new Float64Array(2 * d);
    for (let j = 0; j < 2 * d; j++) F[j] = (1 - u) * frames[2 * d * i + j] + u * frames[2 * d * next + j];
    return orthonormal(F);
  };

  const blended = (A, B, weight) => orthonormal(A.map((value, j) => (1 - weight) * value + weight * B[j]));

  // Manual tour: the frame whose row j is (x, y), the others changed as little as that allows.
  const withAxis = (F, j, x, y) => {
    const length = Math.hypot(x, y), most = 0.999;
    if (length > most) [x, y] = [(x * most) / length, (y * most) / length];
    const out = Float64Array.from(F);
    let around = gram(out, j);
    if (around[0] * around[2] - around[1] * around[1] < 1e-6) {
      // Column j fills the projection alone, so that the others have no direction to turn to: give them one.
      for (let i = 0; i < 2 * d; i++) out[i] += 0.02 * Math.sin(1 + i * 1.7);
      around = gram(out, j);
    }
    times(out, inverse(root(around)), j);
    times(out, root([1 - x * x, -x * y, 1 - y * y]), j);
    out[2 * j] = x;
    out[2 * j + 1] = y;
    return orthonormal(out);
  };

  // ---- state ----

  const state = { position: 0, direction: 1, playing: true, manual: null, blend: 0, column: -1, last: null };
  let frame = frameAt(0);

  const current = () => {
    const F = frameAt(state.position);
    return state.manual && state.blend > 0 ? blended(F, state.manual, state.blend) : F;
  };

  // ---- drawing ----

  const fit = (canvas) => {
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    return [context, box.width, box.height];
  };

  const drawPoints = () => {
    const [context, width, height] = fit(byId("points"));
    const scale = 0.46 * Math.min(width, height) * Number(byId("zoom").value);
    const radius = Math.min(Math.max(2.2 * Math.pow(1500 / n, 0.25), 0.8), 5);
    const left = width / 2, top = height / 2, round = n <= 8000;
    context.globalAlpha = n > 20000 ? 0.5 : 0.75;
    for (let i = 0; i < n; ) {
      const code = codes[i];
      context.fillStyle = palette[code];
      context.beginPath();
      for (; i < n && codes[i] === code; i++) {
        let x = 0, y = 0;
        for (let j = 0, at = i * d; j < d; j++, at++) {
          x += rows[at] * frame[2 * j];
          y += rows[at] * frame[2 * j + 1];
        }
        x = left + scale * x;
        y = top - scale * y;
        if (!round) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        else {
          context.moveTo(x + radius, y);
          context.arc(x, y, radius, 0, 2 * Math.PI);
        }
      }
      if (round) context.fill();
    }
    context.globalAlpha = 1;
  };

  const circle = () => {
    const box = byId("axes").getBoundingClientRect();
    return { center: box.width / 2, radius: 0.33 * box.width };
  };

  // The columns with the longest axes; the others would only hide them.
  const labeled = () => {
    const length = (j) => Math.hypot(frame[2 * j], frame[2 * j + 1]);
    const order = [...columns.keys()].sort((a, b) => length(b) - length(a));
    const shown = order.slice(0, 10).filter((j) => length(j) > 0.12 && j !== state.column);
    return state.column < 0 ? shown : [state.column, ...shown];
  };

  const drawAxes = () => {
    const [context] = fit(byId("axes")), { center, radius } = circle(), named = labeled(), marked = new Set(named);
    context.fillStyle = "rgba(255, 255, 255, 0.88)";
    context.strokeStyle = "#c4c4c4";
    context.beginPath();
    context.arc(center, center, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let j = 0; j < d; j++) {
      const x = center + radius * frame[2 * j], y = center - radius * frame[2 * j + 1], chosen = j === state.column;
      context.strokeStyle = context.fillStyle = chosen ? "#D55E00" : marked.has(j) ? "#222222" : "#c4c4c4";
      context.lineWidth = chosen ? 2 : 1;
      context.beginPath();
      context.moveTo(center, center);
      context.lineTo(x, y);
      context.stroke();
      context.beginPath();
      context.arc(x, y, chosen ? 4.5 : 3, 0, 2 * Math.PI);
      context.fill();
    }
    const placed = [];
    for (const j of named) {
      const x = center + radius * frame[2 * j], y = center - radius * frame[2 * j + 1];
      const width = context.measureText(columns[j]).width;
      const beside = x >= center ? x + 6 : x - 6 - width;
      const left = Math.min(Math.max(beside, 2), 2 * center - width - 2);
      const top = Math.abs(left - beside) < 4 ? y : y <= center ? y - 12 : y + 12; // not across its own axis
      if (placed.some(([l, w, t]) => Math.abs(t - top) < 13 && left < l + w && l < left + width)) continue;
      placed.push([left, width, top]);
      context.strokeStyle = "rgba(255, 255, 255, 0.85)";
      context.lineWidth = 3;
      context.strokeText(columns[j], left, top);
      context.fillStyle = j === state.column ? "#D55E00" : "#222222";
      context.fillText(columns[j], left, top);
    }
    context.lineWidth = 1;
  };

  const draw = () => {
    drawPoints();
    drawAxes();
    if (document.activeElement !== byId("position")) byId("position").value = state.position;
  };

  const step = (now) => {
    const seconds = state.last === null ? 0 : Math.min((now - state.last) / 1000, 0.1);
    state.last = now;
    if (state.playing) {
      state.blend = Math.max(0, state.blend - seconds / BLEND_SECONDS);
      let position = state.position + state.direction * seconds * FRAMES_PER_SECOND * Number(byId("speed").value);
      if (position >= m - 1 || position <= 0) {
        state.direction = position <= 0 ? 1 : -1; // there and back again
        position = Math.min(Math.max(position, 0), m - 1);
      }
      state.position = position;
      frame = current();
      draw();
      window.requestAnimationFrame(step);
    }
  };

  // ---- controls ----

  const play = (playing) => {
    const before = state.playing;
    state.playing = playing;
    state.last = null;
    byId("play").textContent = playing ? "Pause" : "Play";
    if (playing && !before) window.requestAnimationFrame(step);
  };

  const moveAxis = (x, y) => {
    play(false);
    state.manual = frame = withAxis(frame, state.column, x, y);
    state.blend = 1;
    draw();
  };

  const choose = (j) => {
    state.column = j;
    byId("column").value = String(j);
    draw();
  };

  const nearest = (x, y) => {
    let best = -1, least = 18 * 18;
    const { center, radius } = circle();
    for (let j = 0; j < d; j++) {
      const squared = (center + radius * frame[2 * j] - x) ** 2 + (center - radius * frame[2 * j + 1] - y) ** 2;
      if (squared < least) [best, least] = [j, squared];
    }
    return best;
  };

  const axes = byId("axes");
  axes.addEventListener("pointerdown", (event) => {
    const j = nearest(event.offsetX, event.offsetY);
    if (j < 0) return;
    axes.setPointerCapture(event.pointerId);
    play(false);
    choose(j);
  });
  axes.addEventListener("pointermove", (event) => {
    if (!axes.hasPointerCapture(event.pointerId)) return;
    const { center, radius } = circle();
    moveAxis((event.offsetX - center) / radius, (center - event.offsetY) / radius);
  });
  axes.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move) return;
    event.preventDefault();
    const j = Math.max(state.column, 0);
    choose(j);
    moveAxis(frame[2 * j] + 0.05 * move[0], frame[2 * j + 1] + 0.05 * move[1]);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || ["BUTTON", "INPUT", "SELECT"].includes(event.target.tagName)) return;
    event.preventDefault();
    play(!state.playing);
  });
  byId("play").addEventListener("click", () => play(!state.playing));
  byId("position").max = String(m - 1);
  byId("position").addEventListener("input", (event) => {
    play(false);
    state.position = Number(event.target.value);
    state.blend = 0;
    frame = current();
    draw();
  });
  byId("zoom").addEventListener("input", draw);
  byId("column").addEventListener("change", (event) => choose(Number(event.target.value)));
  byId("points").addEventListener("wheel", (event) => {
    event.preventDefault();
    const zoom = byId("zoom");
    zoom.value = String(Number(zoom.value) * Math.exp(-event.deltaY / 500));
    draw();
  }, { passive: false });
  window.addEventListener("resize", draw);

  byId("column").append(new Option("–", "-1"));
  for (const [j, name] of columns.entries()) byId("column").append(new Option(name, String(j)));
  if (data.legendTitle && legend.length) {
    const title = document.createElement("li");
    title.className = "title";
    title.textContent = data.legendTitle;
    byId("legend").append(title);
  }
  for (const entry of legend) {
    const item = document.createElement("li"), mark = document.createElement("span"), text = document.createElement("span");
    mark.className = entry.colors.length > 1 ? "bar" : "dot";
    mark.style.background = entry.colors.length > 1 ? `linear-gradient(to top, ${entry.colors.join(",")})` : entry.colors[0];
    text.textContent = entry.name;
    item.append(mark, text);
    byId("legend").append(item);
  }
  window.lowdimTour = { state, frame: () => frame }; // for tests
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) play(false);
  draw();
  if (state.playing) window.requestAnimationFrame(step);
})();
