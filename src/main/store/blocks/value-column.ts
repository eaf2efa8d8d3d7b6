/**
 * A column of plain data of any shape: objects become a column for each of their fields, maps
 * from numbers (`waitedFor`) a column of keys and one of values, numbers a `NumberColumn`, and
 * everything else distinct JSON texts. Nothing is known of records, so a field that a later
 * version adds needs no change here.
 */
import {
  bytesPerValue,
  decodeNumbers,
  encodeNumbers,
  type NumberCode,
} from './number-column.ts';

/** The shape of a column; its bytes lie in the block, in the order of the shape. */
export type ColumnShape =
  | { readonly is: 'numbers'; readonly code: NumberCode }
  | {
      readonly is: 'texts';
      /** Distinct values as JSON; the column holds their places here. */
      readonly distinct: readonly string[];
      readonly code: NumberCode;
    }
  | { readonly is: 'object'; readonly fields: readonly FieldShape[] }
  | {
      readonly is: 'map';
      /** Number of the map's entries in each row. */
      readonly counts: NumberCode;
      readonly total: number;
      readonly keys: NumberCode;
      readonly values: ColumnShape;
    };

interface FieldShape {
  readonly name: string;
  /** Rows that have the field; default: all. */
  readonly rows?: { readonly count: number; readonly code: NumberCode };
  readonly column: ColumnShape;
}

/** A decoded column: the value of a row. */
export type ReadColumn = (row: number) => unknown;

type Plain = Readonly<Record<string, unknown>>;

/** @param parts receives the column's bytes */
export function encodeColumn(
  values: readonly unknown[],
  parts: Uint8Array[],
): ColumnShape {
  const numbers = (column: readonly number[]): NumberCode => {
    const { code, bytes } = encodeNumbers(column);
    parts.push(bytes);
    return code;
  };
  if (values.every(isNumber)) return { is: 'numbers', code: numbers(values) };
  if (!values.every(isPlain)) {
    const places = new Map<string, number>();
    const column = values.map((value) => {
      const text = JSON.stringify(value);
      const place = places.get(text) ?? places.size;
      places.set(text, place);
      return place;
    });
    return { is: 'texts', distinct: [...places.keys()], code: numbers(column) };
  }
  const names = namesIn(values);
  if (names.size > 0 && [...names].every((name) => INDEX.test(name))) {
    const entries = values.map((value) => namesOf(value));
    const counts = numbers(entries.map(({ length }) => length));
    const keys = numbers(entries.flat().map(Number));
    const all = values.flatMap((value) => namesOf(value).map((name) => value[name]));
    const column = encodeColumn(all, parts);
    return { is: 'map', counts, total: all.length, keys, values: column };
  }
  const fields = [...names].flatMap((name): FieldShape[] => {
    const rows: number[] = [];
    const present: unknown[] = [];
    for (let row = 0; row < values.length; row++) {
      const record = values[row]!;
      const value = record[name];
      // A record may have no `constructor` of its own.
      if (value === undefined || !Object.hasOwn(record, name)) continue;
      rows.push(row);
      present.push(value);
    }
    if (rows.length === 0) return [];
    if (rows.length === values.length) {
      return [{ name, column: encodeColumn(present, parts) }];
    }
    const code = numbers(rows);
    const column = encodeColumn(present, parts);
    return [{ name, rows: { count: rows.length, code }, column }];
  });
  return { is: 'object', fields };
}

/**
 * @param take the block's next bytes
 * @param count rows of the column
 */
export function decodeColumn(
  shape: ColumnShape,
  count: number,
  take: (bytes: number) => Uint8Array,
): ReadColumn {
  const numbers = (code: NumberCode, length: number): Float64Array =>
    decodeNumbers({ code, bytes: take(bytesPerValue(code) * length) }, length);
  switch (shape.is) {
    case 'numbers': {
      const { code } = shape;
      const bytes = take(bytesPerValue(code) * count);
      // Few readers want all columns.
      let values: Float64Array | undefined;
      return (row) => (values ??= decodeNumbers({ code, bytes }, count))[row];
    }
    case 'texts': {
      const places = numbers(shape.code, count);
      const { distinct } = shape;
      const plain = distinct.map((text): unknown => JSON.parse(text));
      // What can be changed is made for each reader.
      return (row) => {
        const value = plain[places[row]!];
        return typeof value === 'object' ? JSON.parse(distinct[places[row]!]!) : value;
      };
    }
    case 'map':
      return decodeMap(shape, count, numbers, take);
    case 'object':
      return decodeObject(shape.fields, count, numbers, take);
    default:
      shape satisfies never;
      throw new Error(`internal: a column of an unknown shape`);
  }
}

type TakeNumbers = (code: NumberCode, length: number) => Float64Array;

function decodeMap(
  shape: ColumnShape & { is: 'map' },
  count: number,
  numbers: TakeNumbers,
  take: (bytes: number) => Uint8Array,
): ReadColumn {
  const counts = numbers(shape.counts, count);
  const keys = numbers(shape.keys, shape.total);
  const values = decodeColumn(shape.values, shape.total, take);
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++) starts[row + 1] = starts[row]! + counts[row]!;
  return (row) => {
    const map: Record<string, unknown> = {};
    for (let i = starts[row]!; i < starts[row + 1]!; i++) {
      map[String(keys[i]!)] = values(i);
    }
    return map;
  };
}

function decodeObject(
  shapes: readonly FieldShape[],
  count: number,
  numbers: TakeNumbers,
  take: (bytes: number) => Uint8Array,
): ReadColumn {
  const fields = shapes.map(({ name, rows, column }) => {
    if (rows === undefined) {
      return { name, places: undefined, read: decodeColumn(column, count, take) };
    }
    const places = new Int32Array(count).fill(-1);
    for (const [place, row] of numbers(rows.code, rows.count).entries()) {
      places[row] = place;
    }
    return { name, places, read: decodeColumn(column, rows.count, take) };
  });
  return (row) => {
    const object: Record<string, unknown> = {};
    for (const { name, places, read } of fields) {
      const place = places === undefined ? row : places[row]!;
      if (place >= 0) object[name] = read(place);
    }
    return object;
  };
}

const INDEX = /^(0|[1-9]\d{0,8})$/;

const isNumber = (value: unknown): value is number => Number.isFinite(value);

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All names; records mostly have the same ones, in the same order. */
function namesIn(values: readonly Plain[]): ReadonlySet<string> {
  const names = new Set<string>();
  let last: readonly string[] = [];
  for (const value of values) {
    const own = Object.keys(value);
    if (isSame(own, last)) continue;
    for (const name of own) names.add(name);
    last = own;
  }
  return names;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const namesOf = (value: Plain): string[] =>
  Object.keys(value).filter((name) => value[name] !== undefined);
