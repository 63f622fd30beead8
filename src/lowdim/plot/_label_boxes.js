// Boxes of texts on a canvas: { left, right, top, bottom } in pixels.

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// How many rows lie in a box, from sums over squares of `cell` pixels. The view tells where a row lies.
const rowCounter = (view, rows, cell) => {
  const across = Math.ceil(view.width / cell) + 1, down = Math.ceil(view.height / cell) + 1;
  const sums = new Int32Array((across + 1) * (down + 1)), clip = (at, most) => Math.min(Math.max(at, 0), most);
  for (const i of rows) {
    const x = clip(Math.floor(view.x(i) / cell), across - 1), y = clip(Math.floor(view.y(i) / cell), down - 1);
    sums[(y + 1) * (across + 1) + x + 1]++;
  }
  for (let y = 1; y <= down; y++) {
    for (let x = 1, row = 0; x <= across; x++) {
      row += sums[y * (across + 1) + x];
      sums[y * (across + 1) + x] = row + sums[(y - 1) * (across + 1) + x];
    }
  }
  return (box) => {
    const [left, right] = [clip(Math.floor(box.left / cell), across), clip(Math.ceil(box.right / cell), across)];
    const [top, bottom] = [clip(Math.floor(box.top / cell), down) * (across + 1), clip(Math.ceil(box.bottom / cell), down) * (across + 1)];
    return sums[bottom + right] - sums[bottom + left] - sums[top + right] + sums[top + left];
  };
};
