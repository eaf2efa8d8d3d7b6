/** Labels of a sweep's points and names of its runs, made of the keys in which points differ. */
import type { JsonValue } from '../checks/json.ts';

/** Texts by key; a key that a point does not set is missing. */
export type PointTexts = Readonly<Record<string, string>>;

/** Keys whose values say by themselves what they are. */
const SELF_EVIDENT: readonly string[] = [
  'exchange.method',
  'exchange.collective',
  'workload.model',
  'workload.dataset',
  'optimizer.kind',
];

const LONGEST_VALUE = 40;
const LONGEST_NAME = 120;

export interface PointLabels {
  readonly keys: readonly string[];
  readonly labels: readonly string[];
  readonly texts: readonly PointTexts[];
}

/** @param points the values of each point by key */
export function labelsOf(
  points: readonly (readonly (readonly [key: string, value: JsonValue])[])[],
): PointLabels {
  const all = points.map((settings) => {
    const flat = new Map<string, string>();
    for (const [key, value] of settings) flatten(value, key, flat);
    return flat;
  });
  const keys = [...new Set(all.flatMap((flat) => [...flat.keys()]))].filter(
    (key) => new Set(all.map((flat) => flat.get(key))).size > 1,
  );
  return {
    keys,
    texts: all.map((flat) =>
      Object.fromEntries(
        keys.flatMap((key) => {
          const text = flat.get(key);
          return text === undefined ? [] : [[key, text]];
        }),
      ),
    ),
    labels: all.map((flat) =>
      keys
        .flatMap((key) => {
          const text = flat.get(key);
          if (text === undefined) return [];
          return [SELF_EVIDENT.includes(key) ? text : `${shortKey(key, keys)} ${text}`];
        })
        .join(', '),
    ),
  };
}

/** The last part of a key, or all of it where another key ends so. */
export function shortKey(key: string, keys: readonly string[]): string {
  const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
  return keys.some((other) => other !== key && last(other) === last(key))
    ? key
    : last(key);
}

/** The name of a run: `digits: topk, ratio 0.01, seed 2`. Long labels are cut, seeds are not. */
export function runName(
  sweep: string,
  label: string,
  seed: number | undefined,
): string {
  const end = seed === undefined ? '' : `seed ${seed}`;
  const parts = [label, end].filter((part) => part !== '').join(', ');
  const whole = parts === '' ? sweep : `${sweep}: ${parts}`;
  if (whole.length <= LONGEST_NAME) return whole;
  const tail = end === '' ? '…' : `…, ${end}`;
  return cut(`${sweep}: ${label}`, LONGEST_NAME - tail.length) + tail;
}

function flatten(value: JsonValue, key: string, into: Map<string, string>): void {
  if (value === null) into.set(key, 'default');
  else if (Array.isArray(value)) into.set(key, cutValue(JSON.stringify(value)));
  else if (typeof value === 'object') {
    for (const [name, inner] of Object.entries(value)) {
      flatten(inner as JsonValue, `${key}.${name}`, into);
    }
  } else into.set(key, cutValue(String(value)));
}

const cutValue = (text: string): string =>
  text.length <= LONGEST_VALUE ? text : `${cut(text, LONGEST_VALUE - 1)}…`;

/** Not between the halves of a surrogate pair. */
const cut = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
