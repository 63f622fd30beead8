// The data of the page: typed arrays from base64, decoded when they are first read, so that the first picture is quick.
const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("data").textContent);
const N = DATA.n, K = DATA.k;

const bytesOf = (text) => {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};

// Whole numbers of one, two or three bytes each, the lowest first: three hold the row numbers of millions of rows.
const wholeNumbers = (text, size) => {
  const bytes = bytesOf(text);
  if (size === 1) return bytes;
  if (size === 2) return new Uint16Array(bytes.buffer);
  const out = new Int32Array(bytes.length / 3);
  for (let i = 0, at = 0; i < out.length; i++, at += 3) out[i] = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
  return out;
};

const floats = (text) => new Float32Array(bytesOf(text).buffer);

// A value that is computed once, when it is first asked for.
const lazily = (make) => {
  let made = null;
  return () => (made === null ? (made = make()) : made);
};

const trueNeighbors = lazily(() => wholeNumbers(DATA.neighbors.indices, DATA.neighbors.bytes)); // (n, k)

// Values of measures per row are stored as steps of their range; the last step marks a row without a value.
const dequantized = (text, size, low, high) => {
  const steps = wholeNumbers(text, size), most = (size === 1 ? 255 : 65535) - 1, out = new Float32Array(steps.length);
  for (let i = 0; i < steps.length; i++) out[i] = steps[i] > most ? NaN : low + ((high - low) * steps[i]) / most;
  return out;
};

const MAPS = DATA.maps.map((map) => {
  const trust = {};
  for (const { name, low, high } of DATA.trust) {
    if (name in map.trust) trust[name] = lazily(() => dequantized(map.trust[name], DATA.trustBytes, low, high));
  }
  return { ...map, points: floats(map.points), trust };
});

// What rows can be colored by: categories, values, or a measure of trust, of which every map has its own values.
const COLORINGS = [
  ...DATA.colorings.map((given) => ({
    ...given,
    codes: lazily(() => (given.codes === undefined ? null : wholeNumbers(given.codes, given.bytes))),
    values: lazily(() => (given.values === undefined ? null : floats(given.values))),
  })),
  ...DATA.trust.map((measure) => ({ ...measure, kind: "trust", group: "Trust" })),
];

const thumbnail = lazily(() => (DATA.images === null ? null : bytesOf(DATA.images.pixels)));

const number = (value) => {
  if (!Number.isFinite(value)) return "missing";
  const text = Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(3) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
};
const counted = (count, noun) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
const day = (value) => new Date(Math.round(value * 86400) * 1000).toISOString().slice(0, 10);
