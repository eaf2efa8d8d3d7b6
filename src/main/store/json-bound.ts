/**
 * An upper bound of the bytes that a value takes as JSON, for a tenth of what writing it costs:
 * answers and pushes are cut by it, so that none is larger than `MOST_MESSAGE_BYTES`.
 */

/** Bytes of the largest answer or push between main and a page. */
export const MOST_MESSAGE_BYTES = 4 * 2 ** 20;
/** Bytes of what one has of the store: room is left for its frame. */
export const MOST_PAGE_BYTES = MOST_MESSAGE_BYTES - 2 ** 18;

/** `-1.2345678901234567e+100` */
const NUMBER_BYTES = 24;
/** `false` */
const WORD_BYTES = 5;
/** A character takes at most six: `\u0000`. */
const CHARACTER_BYTES = 6;

export function jsonBound(value: unknown): number {
  if (typeof value === 'number') return NUMBER_BYTES;
  if (typeof value === 'string') return 2 + CHARACTER_BYTES * value.length;
  if (typeof value !== 'object' || value === null) return WORD_BYTES;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += 1 + jsonBound(item);
    return bytes;
  }
  const object = value as Readonly<Record<string, unknown>>;
  // Names of fields are ASCII; quotes, a colon and a comma.
  for (const name in object) bytes += 4 + name.length + jsonBound(object[name]);
  return bytes;
}

/**
 * Returns how many of the first items fit into `most` bytes: at least one, if there are any.
 * @param bytesOf an item's bytes, or more
 */
export function fitting<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  most = MOST_PAGE_BYTES,
): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item);
    if (bytes > most && index > 0) return index;
  }
  return items.length;
}

/** Bytes that a journal entry takes around its record. */
const ENTRY_BYTES = 100;

/** An upper bound for a record with its place. */
const entryBound = ({ record }: { readonly record: unknown }): number =>
  ENTRY_BYTES + jsonBound(record);

/** Parts of a list that fit into a message each, in order. */
export function* messages<T extends { readonly record: unknown }>(
  entries: readonly T[],
): Generator<readonly T[]> {
  let rest = entries;
  while (rest.length > 0) {
    const count = fitting(rest, entryBound);
    yield rest.slice(0, count);
    rest = rest.slice(count);
  }
}
