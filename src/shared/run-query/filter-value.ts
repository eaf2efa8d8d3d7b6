/**
 * Values in a filter, read as the key's kind has them: `0.2`, `90%`, `10MB`, `5min`, `2026-11-01`,
 * `today`. A moment is a stretch of time: a day, a month or a minute, on the clock that moments are
 * shown on.
 */
import { clockOffset, displayUnits } from '../words/display-units.ts';
import type { RunKeyKind } from './run-key.ts';

/** A value as from ≤ v < to, or a single one where both are equal. */
export interface ValueSpan {
  readonly from: number;
  readonly to: number;
}

const NUMBER = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(%|[a-zA-Zµ]*)$/i;

const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};
const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Forms in which values of a kind are written, for messages. */
export const VALUE_FORMS: Readonly<Record<RunKeyKind, string>> = {
  bytes: 'a size, such as 10MB',
  count: 'a number, such as 4',
  duration: 'a time, such as 30s, 10min, 2h or 7d',
  moment: 'a date, such as 2026-11-01, 2026-11, today or yesterday',
  number: 'a number, such as 0.2, 1e-3 or 90%',
  text: 'a text',
  word: 'a word',
};

/** @returns undefined if it is none of this kind */
export function readValue(
  text: string,
  kind: Exclude<RunKeyKind, 'text' | 'word'>,
  now: number,
): ValueSpan | undefined {
  if (kind === 'moment') return readMoment(text.trim().toLowerCase(), now);
  const [, digits, unit = ''] = NUMBER.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const factor = factorOf(unit.toLowerCase(), kind);
  const value = Number(digits) * (factor ?? NaN);
  return Number.isFinite(value) ? { from: value, to: value } : undefined;
}

function factorOf(
  unit: string,
  kind: 'bytes' | 'count' | 'duration' | 'number',
): number | undefined {
  switch (kind) {
    case 'bytes':
      return unit === '' ? 1 : BYTES[unit];
    case 'duration':
      return unit === '' ? 1000 : MILLISECONDS[unit];
    case 'number':
      return unit === '' ? 1 : unit === '%' ? 0.01 : undefined;
    case 'count':
      return unit === '' ? 1 : undefined;
    default:
      return kind satisfies never;
  }
}

function readMoment(text: string, now: number): ValueSpan | undefined {
  if (text === 'today' || text === 'yesterday') {
    const day = shown(now);
    const date = day.getUTCDate() - (text === 'today' ? 0 : 1);
    return stretch([day.getUTCFullYear(), day.getUTCMonth(), date], 2);
  }
  const parts = /^(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[t ](\d\d?):(\d\d))?)?)?$/.exec(text);
  if (parts === null) return undefined;
  const given = parts.slice(1).filter((part) => part !== undefined);
  const [year = 0, month = 1, ...rest] = given.map(Number);
  const at = [year, month - 1, ...rest];
  // From a date with hours to its minute, there is no step between.
  const span = stretch(at, given.length === 5 ? 4 : given.length - 1);
  const begin = shown(span.from);
  const isReal =
    begin.getUTCMonth() === month - 1 &&
    (rest[0] === undefined || begin.getUTCDate() === rest[0]) &&
    (rest[1] ?? 0) < 24 &&
    (rest[2] ?? 0) < 60;
  return isReal ? span : undefined;
}

/** The time that begins at year, month, date and so on, up to the next of its last part. */
function stretch(at: readonly number[], unit: number): ValueSpan {
  const next = at.map((part, index) => (index === unit ? part + 1 : part));
  return { from: moment(at), to: moment(next) };
}

const moment = ([
  year = 0,
  month = 0,
  date = 1,
  hours = 0,
  minutes = 0,
]: readonly number[]) =>
  displayUnits().clock === 'utc'
    ? Date.UTC(year, month, date, hours, minutes)
    : new Date(year, month, date, hours, minutes).getTime();

/** A date whose parts in UTC are those of the shown clock. */
const shown = (at: number): Date => new Date(at + clockOffset(at));
