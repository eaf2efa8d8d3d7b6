/**
 * The keys of stored specs as paths with dots: `exchange.ratio`. Methods bring keys of their own and
 * older versions had others, so they come from the specs themselves and not from a schema.
 */
import { nearest } from '../words/nearest.ts';
import { RUN_KEYS, type KeyPlace } from './run-key.ts';

/** A key that can be written in a filter without quotes. */
const PLAIN = /^[A-Za-z][\w-]*$/;
/** Deepest path; what is below is shown by its run. */
const DEEPEST = 5;

/** Adds the paths of a spec's values. Lists count as values, objects do not. */
export function collectSpecKeys(spec: unknown, into: Set<string>): void {
  collect(spec, [], into);
}

function collect(value: unknown, path: readonly string[], into: Set<string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    if (path.length > 0 && value !== null) into.add(path.join('.'));
    return;
  }
  if (path.length === DEEPEST) return;
  for (const [key, inner] of Object.entries(value)) {
    if (PLAIN.test(key)) collect(inner, [...path, key], into);
  }
}

/** The place of a key's name, or why there is none. */
export type FoundKey =
  { readonly place: KeyPlace } | { readonly problem: string; readonly next: string };

/**
 * Finds a key by its name. A spec's key may be given by its last part alone, if no other ends so.
 * @param specKeys keys of specs in the history; without any, each is taken as it is
 */
export function findKey(name: string, specKeys: readonly string[]): FoundKey {
  const lower = name.toLowerCase();
  const key = RUN_KEYS.find(({ id }) => id === lower);
  if (key !== undefined) return { place: { of: 'run', key } };
  const whole = specKeys.find((one) => one.toLowerCase() === lower);
  if (whole !== undefined) return { place: specPlace(whole) };
  const ends = specKeys.filter((one) => one.toLowerCase().endsWith(`.${lower}`));
  if (ends.length === 1) return { place: specPlace(ends[0]!) };
  if (ends.length > 1) {
    return {
      problem: `several keys are called "${name}"`,
      next: `Say which one: ${ends.slice(0, 4).join(', ')}.`,
    };
  }
  if (specKeys.length === 0 && name.includes('.')) return { place: specPlace(name) };
  const ids = RUN_KEYS.map(({ id }) => id);
  const lastParts = specKeys.map((one) => one.slice(one.lastIndexOf('.') + 1));
  const suggestion = nearest(name, [...ids, ...specKeys, ...lastParts]);
  return {
    problem: `no run has the key "${name}"`,
    next:
      suggestion === undefined
        ? `Keys are ${ids.join(', ')}, and those of specs, such as exchange.method. To find it as text, write it in quotes.`
        : `Did you mean "${suggestion}"? To find it as text, write it in quotes.`,
  };
}

const specPlace = (id: string): KeyPlace => ({ of: 'spec', id, path: id.split('.') });
