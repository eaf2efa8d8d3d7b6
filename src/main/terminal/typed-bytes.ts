/** The bytes of what was typed in a page, for a shell. */

/** Units that stand for single bytes (`escapedBytes`), and not for half of a character. */
const ESCAPED = /(?<![\ud800-\udbff])([\udc80-\udcff]+)/;

export function typedBytes(text: string): Buffer {
  return Buffer.concat(
    text
      .split(ESCAPED)
      // Those captured come second, and latin1 keeps the low half of a unit.
      .map((part, place) => Buffer.from(part, place % 2 === 0 ? 'utf8' : 'latin1')),
  );
}
