/** A whole number as users write it: 199210, 500k, 25M, 1G. Undefined: it is none. */
export function readCountText(text: string): number | undefined {
  const [, number, prefix = ''] =
    /^(\d+(?:\.\d+)?)\s*([kMG]?)$/.exec(text.trim()) ?? [];
  const value = Number(number) * PREFIXES[prefix]!;
  const count = Math.round(value);
  // 1.1M is not exact in binary.
  return Math.abs(value - count) <= 1e-9 * count ? count : undefined;
}

const PREFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };
