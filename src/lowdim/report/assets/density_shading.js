// Density shading, for more points than markers can show: every point is spread by a Gaussian, colors are mixed in
// linear light by their densities, and opacity and depth grow with the density, half by its logarithm and half by its
// rank among all pixels, so that neither outliers nor the inside of clusters vanish. The look is that of lowdim.plot.
const FAINTEST = 0.7; // opacity at the middle of a lone point, so that outliers stay visible
const DEEPEST = 0.55; // share of its light that a color keeps where points are densest
const EMPTY_BELOW = 1e-3; // of the density in the middle of a lone point

// A Gaussian that is 1 in its middle, and its half width in pixels.
const gaussian = (spread) => {
  const reach = Math.max(1, Math.ceil(2.5 * spread)), size = 2 * reach + 1, weights = new Float32Array(size * size);
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      weights[(y + reach) * size + x + reach] = Math.exp(-(x * x + y * y) / (2 * spread * spread));
    }
  }
  return { reach, size, weights };
};

// Densities and sums of light (or of shares of the scale) over the pixels.
const spreadPoints = (rows, at, painted, width, height, spread) => {
  const { reach, size, weights } = gaussian(spread), pixels = width * height;
  const channels = painted.shares === null ? 3 : 1;
  const density = new Float32Array(pixels), known = channels === 3 ? density : new Float32Array(pixels);
  const sums = Array.from({ length: channels }, () => new Float32Array(pixels));
  const lights = painted.palette.map(lightOf);
  for (const i of rows) {
    const [px, py] = at(i), x = Math.round(px), y = Math.round(py);
    if (x < -reach || y < -reach || x >= width + reach || y >= height + reach) continue;
    const share = painted.shares === null ? 0 : painted.shares[i], light = lights[painted.codes[i]];
    const left = Math.max(x - reach, 0), right = Math.min(x + reach, width - 1);
    for (let row = Math.max(y - reach, 0); row <= Math.min(y + reach, height - 1); row++) {
      let weightAt = (row - y + reach) * size + (left - x + reach), pixel = row * width + left;
      for (let column = left; column <= right; column++, weightAt++, pixel++) {
        const weight = weights[weightAt];
        density[pixel] += weight;
        if (channels === 3) {
          sums[0][pixel] += weight * light[0];
          sums[1][pixel] += weight * light[1];
          sums[2][pixel] += weight * light[2];
        } else if (share === share) {
          known[pixel] += weight;
          sums[0][pixel] += weight * share;
        }
      }
    }
  }
  return { density, known, sums };
};

// From 0 for a lone point to 1 for the densest pixels: a function of the density, from a histogram of its logarithm.
const strengthOf = (density) => {
  const BINS = 512, counts = new Float64Array(BINS);
  let most = 2, filled = 0;
  for (const value of density) if (value > most) most = value;
  const perBin = Math.log(most) / BINS, bin = (value) => Math.min(Math.floor(Math.log(value) / perBin), BINS - 1);
  for (const value of density) {
    if (value <= EMPTY_BELOW) continue;
    filled++;
    if (value > 1) counts[bin(value)]++;
  }
  const alone = filled - counts.reduce((sum, count) => sum + count, 0), ranks = new Float32Array(BINS);
  let below = alone, top = BINS;
  for (let b = 0; b < BINS; b++) {
    ranks[b] = below / Math.max(filled - 1, 1);
    below += counts[b];
    if (top === BINS && below >= 0.999 * filled) top = b + 1; // the densest thousandth shares the depth
  }
  const highest = Math.max(top * perBin, Math.log(2));
  return (value) => {
    if (value <= 1) return 0;
    return 0.65 * Math.min(Math.log(value) / highest, 1) + 0.35 * ranks[bin(value)];
  };
};

// The picture of some rows, as ImageData. `at` gives the pixel of a row.
const shadedImage = (rows, at, painted, width, height, spread) => {
  const { density, known, sums } = spreadPoints(rows, at, painted, width, height, spread);
  const strength = strengthOf(density), image = new ImageData(width, height), out = image.data;
  const scale = painted.shares === null ? null : painted.palette.map(lightOf);
  for (let pixel = 0, byte = 0; pixel < density.length; pixel++, byte += 4) {
    const value = density[pixel];
    if (value <= EMPTY_BELOW) continue;
    const strong = strength(value), depth = 1 - (1 - DEEPEST) * strong * strong;
    let light;
    if (scale === null) light = [sums[0][pixel] / value, sums[1][pixel] / value, sums[2][pixel] / value];
    else if (known[pixel] <= 0) light = scale[SHADES];
    else light = scale[Math.min(Math.max(Math.round((sums[0][pixel] / known[pixel]) * (SHADES - 1)), 0), SHADES - 1)];
    for (let c = 0; c < 3; c++) out[byte + c] = SRGB[Math.min(Math.round(4096 * light[c] * depth), 4096)];
    out[byte + 3] = 255 * Math.min((FAINTEST + (1 - FAINTEST) * strong) * Math.min(value, 1), 1);
  }
  return image;
};
