// Numbers for people. What is not known is "?", never 0.

export type Known = number | null | undefined;
export const isKnown = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const prefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];

function prefixOf(value: number): {scale: number; prefix: string} {
  let power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) / 3);
  // 999.7 has to become 1.00 k, not 1.00e+3.
  if (Math.abs(+(value / 1000 ** power).toPrecision(3)) >= 1000) ++power;
  power = Math.max(-4, Math.min(6, power));
  return {scale: 1000 ** power, prefix: prefixes[power + 4]};
}

// ["1.23", "mJ"]
export function siParts(value: number, unit: string): [string, string] {
  if (value === 0) return ["0", unit];
  const {scale, prefix} = prefixOf(value);
  return [(value / scale).toPrecision(3), prefix + unit];
}

export const si = (value: Known, unit: string): string =>
  isKnown(value) ? siParts(value, unit).join("\u00a0").replace(/\u00a0$/, "") : "?";

// Both ends with the unit of the larger one: "1.02 – 1.31 kJ".
export function range(low: Known, high: Known, unit: string): string {
  if (!isKnown(low) || !isKnown(high)) return "?";
  const {scale, prefix} = prefixOf(high);
  const digits = (value: number) => (value === 0 ? "0" : (value / scale).toPrecision(3));
  return `${digits(low)}\u2009–\u2009${digits(high)}\u00a0${prefix}${unit}`;
}

export function percent(share: Known): string {
  if (!isKnown(share)) return "?";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "<\u202f0.1\u00a0%";
  return `${value.toFixed(value === 0 || Math.abs(value) >= 99.95 ? 0 : 1)}\u00a0%`;
}

export function change(ratio: Known): string {
  if (!isKnown(ratio)) return "?";
  const value = 100 * ratio;
  if (value === 0) return "0\u00a0%";
  const digits = Math.abs(value) >= 100 ? 0 : 1;
  return `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}\u00a0%`;
}

export const integer = (value: Known): string => (isKnown(value) ? Math.round(value).toLocaleString("en") : "?");

export function duration(seconds: Known): string {
  if (!isKnown(seconds)) return "?";
  if (!(seconds >= 120)) return si(seconds, "s");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}\u00a0min ${Math.round(seconds % 60)}\u00a0s`;
  return `${Math.floor(minutes / 60)}\u00a0h ${minutes % 60}\u00a0min`;
}

export function money(value: Known, currency: string): string {
  if (!isKnown(value)) return "?";
  if (value === 0) return `0\u00a0${currency}`;
  if (value >= 100) return `${Math.round(value).toLocaleString("en")}\u00a0${currency}`;
  if (value >= 1e-9) return `${value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(value)))).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")}\u00a0${currency}`;
  return `<\u202f1e-9\u00a0${currency}`;
}

// Kilograms, as grams, kilograms or tonnes.
export const mass = (kilograms: Known): string =>
  !isKnown(kilograms) ? "?" : kilograms >= 1000 ? si(kilograms / 1000, "t") : si(kilograms * 1000, "g");

export const bytes = (value: Known): string => si(value, "B");

// Ticks at 1, 2 or 5 times a power of ten, and how many decimals tell them apart.
export function ticks(most: number, about: number): {at: number[]; decimals: number} {
  if (!(most > 0)) return {at: [0], decimals: 0};
  const raw = most / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) ?? 10);
  const at: number[] = [];
  for (let i = 0; i * step <= most * 1.0001; ++i) at.push(i * step);
  return {at, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${integer(count)} ${count === 1 ? one : many}`;
