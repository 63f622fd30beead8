// Colors of rows: a category's own, or a place on the color scale. They are mixed in linear light, as light itself is.
const INK = "#222222", ABSENT = "#dcdcdc", TRUE_NEIGHBOR = "#0072B2", FALSE_NEIGHBOR = "#D55E00";
const SHADES = 64; // of the color scale
const VIRIDIS = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37],
];

const hex = (rgb) => "#" + rgb.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("");
const rgbOf = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
const viridis = (share) => {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1), i = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return hex(VIRIDIS[i].map((channel, c) => channel + (place - i) * (VIRIDIS[i + 1][c] - channel)));
};
const SCALE = Array.from({ length: SHADES }, (_, i) => viridis(i / (SHADES - 1)));

const linearLight = (channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
// sRGB, 0 to 255, of linear light, 0 to 1, from a table.
const SRGB = Uint8ClampedArray.from({ length: 4097 }, (_, i) => {
  const light = i / 4096;
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
});
const lightOf = (color) => rgbOf(color).map((channel) => linearLight(channel / 255));

// The colors of all rows of one map: a palette, and each row's place in it; values also as shares of the scale.
const paint = (coloring, map) => {
  if (coloring.kind === "none") return { palette: [coloring.color], codes: new Uint8Array(N), shares: null };
  if (coloring.kind === "categories") return { palette: coloring.colors, codes: coloring.codes(), shares: null };
  const values = coloring.kind === "trust" ? map.trust[coloring.name]() : coloring.values();
  const { low, high } = coloring, span = high - low || 1;
  const codes = new Uint8Array(N), shares = new Float32Array(N);
  for (let i = 0; i < N; i++) {
    const share = (values[i] - low) / span;
    shares[i] = share;
    codes[i] = share >= 0 ? Math.min(Math.round(share * (SHADES - 1)), SHADES - 1) : SHADES; // NaN is gray
  }
  return { palette: [...SCALE, ABSENT], codes, shares };
};
