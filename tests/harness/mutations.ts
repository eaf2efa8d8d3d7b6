/**
 * Messages as no honest peer sends them, made of honest ones: with other values, keys and
 * types, or with other bytes. The same random numbers make the same messages.
 */
export type Random = () => number;

/** Names that every object has without having been given them. */
const PROTOTYPE_NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'],
  ...['valueOf', '__defineGetter__', 'then', 'length', 'isPrototypeOf'],
];

/** Made anew each time, as a message may be changed further. */
const ODD_VALUES: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => true,
  () => -1,
  () => 1.5,
  () => NaN,
  () => Infinity,
  () => 2 ** 31,
  () => 2 ** 53,
  () => -(2 ** 63),
  () => 2n ** 63n,
  () => '',
  () => '../../../../tmp/gradwire-was-here',
  () => 'a\0b',
  () => 'x'.repeat(5000),
  () => '\ud800',
  () => [],
  () => [[]],
  () => ({}),
  () => new Uint8Array(33),
  () => new Date(0),
  () => new Map([['a', null]]),
  () => nested(200),
  () => Array.from({ length: 3000 }, () => 0),
];

function nested(depth: number): unknown {
  let value: unknown = null;
  for (let level = 0; level < depth; level++) {
    value = level % 2 === 0 ? [value] : { a: value };
  }
  return value;
}

export const below = (random: Random, limit: number): number =>
  Math.floor(limit * random());
export const oneOf = <T>(random: Random, values: readonly T[]): T =>
  values[below(random, values.length)]!;

/** The message with one to three of its values changed, at any depth; itself it stays. */
export function mutant(random: Random, message: unknown): unknown {
  let made = message;
  for (let left = 1 + below(random, 3); left > 0; left--) made = changed(random, made);
  return made;
}

function changed(random: Random, value: unknown): unknown {
  const isBranch = typeof value === 'object' && value !== null && !isLeaf(value);
  if (!isBranch || random() < 0.1) return replaced(random, value);
  const entries = Object.entries(value);
  if (entries.length === 0) return replaced(random, value);
  const at = below(random, entries.length);
  const [key, inside] = entries[at]!;
  const choice = random();
  if (choice < 0.1) entries.splice(at, 1);
  else if (choice < 0.2)
    entries.splice(at, 0, [oneOf(random, PROTOTYPE_NAMES), inside]);
  else if (choice < 0.25) entries[at] = [oneOf(random, PROTOTYPE_NAMES), inside];
  else if (choice < 0.3) entries.push([`new${at}`, inside]);
  else entries[at] = [key, changed(random, inside)];
  if (Array.isArray(value)) return entries.map(([, element]) => element as unknown);
  // Own keys even where an assignment would set the prototype.
  const made = {};
  for (const [name, element] of entries) {
    const own = {
      enumerable: true,
      configurable: true,
      writable: true,
      value: element,
    };
    Object.defineProperty(made, name, own);
  }
  return made;
}

const isLeaf = (value: object): boolean =>
  value instanceof Uint8Array || value instanceof Date || value instanceof Map;

/** Another value, or another of its type. */
function replaced(random: Random, value: unknown): unknown {
  if (random() < 0.7) return oneOf(random, ODD_VALUES)();
  switch (typeof value) {
    case 'number':
      return oneOf(random, [-value, value + 0.5, value * 2 ** 40, `${value}`]);
    case 'string':
      return oneOf(random, [`${value}/..`, value.toUpperCase(), ...PROTOTYPE_NAMES]);
    case 'boolean':
      return !value;
    default:
      return [value];
  }
}

/** The bytes cut short, lengthened, or with some of their bits turned over. */
export function mangled(random: Random, bytes: Uint8Array): Uint8Array {
  const choice = random();
  if (choice < 0.2) return bytes.slice(0, below(random, bytes.length));
  if (choice < 0.3) {
    return Uint8Array.from([...bytes, ...randomBytes(random, 1 + below(random, 20))]);
  }
  if (choice < 0.4) return randomBytes(random, 1 + below(random, 100));
  const made = Uint8Array.from(bytes);
  for (let left = 1 + below(random, 4); left > 0; left--) {
    made[below(random, made.length)]! ^= 1 << below(random, 8);
  }
  return made;
}

const randomBytes = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => below(random, 256));
