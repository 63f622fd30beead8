// The neighbors of a row: true ones, near in the data, and false ones, near in the map only; and how a map keeps them.

// The k rows nearest to row i in a map, found by comparing all: quicker than a list of them for every row is to load.
const mapNeighbors = (map, i) => {
  const { points } = map, x = points[2 * i], y = points[2 * i + 1];
  const nearest = new Int32Array(K).fill(-1), squares = new Float64Array(K).fill(Infinity);
  for (let j = 0; j < N; j++) {
    const dx = points[2 * j] - x, dy = points[2 * j + 1] - y, squared = dx * dx + dy * dy;
    if (squared >= squares[K - 1] || j === i) continue;
    let place = K - 1;
    for (; place > 0 && squares[place - 1] > squared; place--) {
      squares[place] = squares[place - 1];
      nearest[place] = nearest[place - 1];
    }
    squares[place] = squared;
    nearest[place] = j;
  }
  return Array.from(nearest).filter((j) => j >= 0);
};

const neighborsOf = (map, i) => {
  const near = Array.from(trueNeighbors().subarray(i * K, (i + 1) * K)), kept = new Set(near);
  return { near, wrong: mapNeighbors(map, i).filter((j) => !kept.has(j)) };
};

const drawNeighborLines = (context, view, i) => {
  const { near, wrong } = neighborsOf(view.map, i), x = view.x(i), y = view.y(i);
  const lines = (rows, color, dash) => {
    context.strokeStyle = context.fillStyle = color;
    context.setLineDash(dash);
    for (const [width, style] of [[3.5, "rgba(255, 255, 255, 0.75)"], [1.4, color]]) {
      context.beginPath();
      for (const j of rows) {
        context.moveTo(x, y);
        context.lineTo(view.x(j), view.y(j));
      }
      context.strokeStyle = style;
      context.lineWidth = width;
      context.stroke();
    }
    context.setLineDash([]);
    for (const j of rows) {
      context.beginPath();
      context.arc(view.x(j), view.y(j), 2.8, 0, 2 * Math.PI);
      context.fill();
    }
  };
  lines(wrong, FALSE_NEIGHBOR, [4, 3]);
  lines(near, TRUE_NEIGHBOR, []);
  context.beginPath();
  context.arc(x, y, 6, 0, 2 * Math.PI);
  context.fillStyle = "#ffffff";
  context.fill();
  context.strokeStyle = INK;
  context.lineWidth = 2.5;
  context.stroke();
};

// What a map makes of a row, in the words of the library (quality.point_words), from the same figures.
const pointWords = (map, i) => {
  const measure = map.trust[DATA.recall];
  const recall = measure ? measure()[i] : NaN;
  if (recall !== recall) return "This row was not among those that were measured.";
  const kept = Math.round(recall * K);
  const near = `${kept} of its ${K} true neighbors are drawn near it.`;
  return kept === K ? near : `${near} ${K - kept} of the ${K} drawn near it are false.`;
};
