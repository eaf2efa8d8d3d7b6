/**
 * The settings of runs as flat keys with texts, and those in which runs differ. What a spec leaves
 * to the machine and the run records (the backend, switches) counts as a setting, too.
 */
import { settingsInUse } from '../spec/program-settings.ts';
import type { ComparedRun } from './compared-run.ts';

/** Texts by key: `exchange.method` → `topk`. */
export type Settings = ReadonlyMap<string, string>;

/** Keys that say nothing about a configuration. */
const NAMES: readonly string[] = ['name', 'description'];

/** The key in which runs of a group may differ. */
export const SEED = 'seed';

/** Longest text of a value; a model's source would fill the page. */
const MOST_TEXT = 200;

export function settingsOf({
  backend,
  spec,
  switches,
}: Pick<ComparedRun, 'backend' | 'spec' | 'switches'>): Settings {
  const flat = new Map<string, string>();
  for (const [key, value] of Object.entries(settingsInUse(spec))) {
    if (!NAMES.includes(key)) flatten(value, key, flat);
  }
  // `auto` becomes what it was.
  if (backend !== undefined) flat.set('backend', backend);
  if (switches.length > 0) flat.set('switches', switches.join('; '));
  return flat;
}

function flatten(value: unknown, key: string, into: Map<string, string>): void {
  if (value === undefined) return;
  if (typeof value !== 'object' || value === null) {
    into.set(key, String(value));
  } else if (Array.isArray(value)) {
    if (value.length > 0) into.set(key, listText(value));
  } else {
    for (const [name, inner] of Object.entries(value)) {
      flatten(inner, `${key}.${name}`, into);
    }
  }
}

const listText = (list: readonly unknown[]): string =>
  list.every((item) => typeof item === 'string')
    ? list.join(', ')
    : JSON.stringify(list);

/** Keys whose values are not the same in all, in the order in which specs have them. */
export function differingKeys(all: readonly Settings[]): readonly string[] {
  const keys = new Set(all.flatMap((settings) => [...settings.keys()]));
  return [...keys].filter(
    (key) => new Set(all.map((settings) => settings.get(key))).size > 1,
  );
}

/** Settings without the seed as one text, equal for runs of a group. */
export const groupKey = (settings: Settings): string =>
  JSON.stringify(
    [...settings]
      .filter(([key]) => key !== SEED)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

export const shortText = (text: string): string =>
  text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
