/** Reads quantities with units from text, and formats them. */

/** The value in the base unit, or undefined if the text is not a number with a unit. */
export function readQuantity(
  text: string,
  units: ReadonlyMap<string, number>,
): number | undefined {
  const [, digits, unit] =
    /^\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\s*(\S+)\s*$/i.exec(text) ?? [];
  const factor = unit === undefined ? undefined : units.get(unit);
  return factor === undefined ? undefined : settled(Number(digits) * factor);
}

/** Writes a value in the largest unit that gives at least 1: `1 Gbit/s`, `0.5 µs`. */
export function quantityText(
  value: number,
  units: readonly (readonly [name: string, factor: number])[],
): string {
  const last = units.at(-1)!;
  const [name, factor] = units.find((unit) => value >= unit[1]) ?? last;
  return `${settled(value / factor)} ${name}`;
}

/** Rounds away the errors of binary fractions. */
const settled = (value: number): number => Number(value.toPrecision(12));
