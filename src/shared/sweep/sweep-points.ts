/**
 * The points of a sweep: the combinations of its grid at every point of its list, as raw specs.
 * A parameter that a point's method does not have is left out of the point, so that methods with
 * and without it can share a grid; points that are then equal are one.
 */
import type { MethodEntry } from '../catalogue/catalogue.ts';
import type { JsonValue } from '../checks/json.ts';
import { GradwireError, inputError, toErrorData } from '../errors/errors.ts';
import { DEFAULT_METHOD, PLAN_KEYS } from '../plan/exchange-plan.ts';
import { parseExperimentSpec, type ParsedSpec } from '../spec/experiment-spec.ts';
import { withPathValues } from '../spec/set-values.ts';
import { shownValue } from '../words/printable.ts';
import { MOST_SWEEP_RUNS, seedsOf, type SweepDefinition } from './sweep-definition.ts';
import { labelsOf, runName, type PointTexts } from './sweep-names.ts';

/** A value of a point by the key that it has in the sweep; null: the key is removed. */
type Setting = readonly [key: string, value: JsonValue];

interface SweepPoint {
  /** Place among the points, from 1. */
  readonly number: number;
  /** Values that distinguish it from the others, as text; empty for the only point. */
  readonly label: string;
  /** Texts of its values by key, of those keys in which points differ. */
  readonly values: PointTexts;
  /** The spec, with the sweep's name and the first seed. */
  readonly spec: ParsedSpec;
}

export interface ExpandedSweep {
  readonly name: string;
  /** Keys in which points differ, in the order of the sweep. */
  readonly keys: readonly string[];
  readonly points: readonly SweepPoint[];
  readonly seeds: readonly number[];
}

/** Most combinations before equal ones are one. */
const MOST_COMBINATIONS = 20 * MOST_SWEEP_RUNS;

/** Keys that no point may set: each run has its own. */
const RESERVED: Readonly<Record<string, string>> = {
  name: 'Name the sweep; its runs are named after their values.',
  seed: 'Give the seeds under "seeds".',
};

/**
 * @param methods of the agent, which say what parameters there are
 * @throws GradwireError `SWEEP_INVALID`, `SWEEP_TOO_LARGE`, and what is wrong with a point's spec,
 * with the point in the place
 */
export function sweepPoints(
  sweep: SweepDefinition,
  methods: readonly MethodEntry[],
): ExpandedSweep {
  const seeds = seedsOf(sweep);
  requireKeys(sweep);
  const combinations = combined(sweep);
  requireUse(combinations, sweep, methods);
  const seen = new Set<string>();
  const raws = combinations.flatMap((settings) => {
    const used = withoutForeign(settings, sweep, methods);
    const raw = applied(sweep.base, used);
    const identity = JSON.stringify(raw);
    if (seen.has(identity)) return [];
    seen.add(identity);
    return [{ raw, used }];
  });
  if (raws.length * seeds.length > MOST_SWEEP_RUNS) {
    throw tooLarge(`${raws.length} points with ${seeds.length} seeds`);
  }
  const { keys, labels, texts } = labelsOf(raws.map(({ used }) => used));
  const name = sweep.name ?? nameOf(sweep.base);
  return {
    name,
    keys,
    seeds,
    points: raws.map(({ raw, used }, index) => {
      const label = labels[index]!;
      const named = runName(name, label, undefined);
      return {
        number: index + 1,
        label,
        values: texts[index]!,
        spec: atPoint(index + 1, used, () => {
          const own = { name: named, seed: seeds[0] };
          // The spec's own name and seed, which no run has, are checked as well.
          if (index === 0) parseExperimentSpec({ ...own, ...raw });
          return parseExperimentSpec({ ...raw, ...own });
        }),
      };
    }),
  };
}

/**
 * Does something with a point; an error's place then begins with the point and its values.
 * @throws GradwireError
 */
function atPoint<T>(number: number, settings: readonly Setting[], work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw placedAt(thrown, pointText(number, settings));
  }
}

/** An error with the point as its place. */
export function placedAt(thrown: unknown, point: string): unknown {
  if (!(thrown instanceof GradwireError)) return thrown;
  const error = toErrorData(thrown);
  const place =
    error.place === undefined || error.place === 'spec'
      ? point
      : `${point}; ${error.place}`;
  return new GradwireError({ ...error, place }, { cause: thrown });
}

/** `point 3: exchange.method topk, exchange.ratio 0.01` */
export const pointText = (
  number: number,
  settings: Iterable<readonly [key: string, value: unknown]>,
): string => {
  const values = [...settings].map(
    ([key, value]) => `${key} ${typeof value === 'string' ? value : shownValue(value)}`,
  );
  return values.length === 0
    ? `point ${number}`
    : `point ${number}: ${values.join(', ')}`;
};

function requireKeys({ grid, list }: SweepDefinition): void {
  const places: readonly (readonly [string, readonly string[]])[] = [
    ['grid', Object.keys(grid)],
    ...list.map(
      (point, index) => [`list, point ${index + 1}`, Object.keys(point)] as const,
    ),
  ];
  for (const [place, keys] of places) {
    for (const key of keys) {
      if (key.split('.').some((part) => part === '' || part === '__proto__')) {
        throw inputError('SWEEP_INVALID', `"${key}" is no key of a spec`, {
          place,
          next: 'Write the path of a key with dots, such as exchange.method.',
        });
      }
      const next = RESERVED[key];
      if (next !== undefined && Object.hasOwn(RESERVED, key)) {
        throw inputError('SWEEP_INVALID', `"${key}" cannot be varied`, { place, next });
      }
    }
  }
  for (const [key, values] of Object.entries(grid)) {
    const texts = values.map((value) => JSON.stringify(value));
    const twice = texts.find((text, index) => texts.indexOf(text) !== index);
    if (twice === undefined) continue;
    throw inputError('SWEEP_INVALID', `"${key}" has the value ${twice} twice`, {
      place: 'grid',
      next: 'Give each value once.',
    });
  }
}

/** Every combination of the grid at every point of the list; the last key varies fastest. */
function combined({ grid, list }: SweepDefinition): readonly (readonly Setting[])[] {
  let points: (readonly Setting[])[] =
    list.length === 0 ? [[]] : list.map(Object.entries);
  for (const [key, values] of Object.entries(grid)) {
    if (points.length * values.length > MOST_COMBINATIONS) {
      throw tooLarge(`more than ${MOST_COMBINATIONS} combinations`);
    }
    const clash = points.findIndex((point) => point.some(([own]) => own === key));
    if (clash >= 0) {
      throw inputError(
        'SWEEP_INVALID',
        `"${key}" is both in the grid and in the list`,
        {
          place: `list, point ${clash + 1}`,
          next: 'Give it in one of them.',
        },
      );
    }
    points = points.flatMap((point) =>
      values.map((value): readonly Setting[] => [...point, [key, value]]),
    );
  }
  return points;
}

const tooLarge = (what: string): Error =>
  inputError(
    'SWEEP_TOO_LARGE',
    `the sweep has ${what}; at most ${MOST_SWEEP_RUNS} runs are possible`,
    {
      next: 'Vary fewer values, or give the points one by one under "list".',
    },
  );

/** The parameter of a method that a key names: `ratio` of `exchange.ratio`, `quantize.bits`. */
function parameterOf(key: string): string | undefined {
  const [section, name] = key.split('.');
  const isParameter =
    section === 'exchange' &&
    name !== undefined &&
    !(PLAN_KEYS as readonly string[]).includes(name);
  return isParameter ? name : undefined;
}

const hasParameter = ({ parameters }: MethodEntry, name: string): boolean =>
  parameters.some(({ key }) => key === name || key.startsWith(`${name}.`));

function methodAt(
  settings: readonly Setting[],
  base: SweepDefinition['base'],
  methods: readonly MethodEntry[],
): MethodEntry | undefined {
  const { exchange } = applied(
    base,
    settings.filter(([key]) => parameterOf(key) === undefined),
  );
  const named = (exchange as { readonly method?: unknown } | undefined)?.method;
  return methods.find(({ id }) => id === (named ?? DEFAULT_METHOD));
}

/** The settings without the grid's parameters that the point's method does not have and another does. */
function withoutForeign(
  settings: readonly Setting[],
  { base, grid }: SweepDefinition,
  methods: readonly MethodEntry[],
): readonly Setting[] {
  if (!settings.some(([key]) => parameterOf(key) !== undefined)) return settings;
  const method = methodAt(settings, base, methods);
  return settings.filter(([key]) => {
    const name = parameterOf(key);
    // What a list says of one point is meant for it.
    if (name === undefined || method === undefined || !Object.hasOwn(grid, key)) {
      return true;
    }
    return (
      hasParameter(method, name) || !methods.some((one) => hasParameter(one, name))
    );
  });
}

/** @throws GradwireError `SWEEP_INVALID`: a parameter that no method of the sweep has */
function requireUse(
  combinations: readonly (readonly Setting[])[],
  { base, grid }: SweepDefinition,
  methods: readonly MethodEntry[],
): void {
  for (const key of Object.keys(grid)) {
    const name = parameterOf(key);
    if (name === undefined || !methods.some((one) => hasParameter(one, name))) continue;
    const own = new Set(combinations.map((point) => methodAt(point, base, methods)));
    if ([...own].some((one) => one === undefined || hasParameter(one, name))) continue;
    const used = [...own].map((one) => one?.id).join(', ');
    throw inputError('SWEEP_INVALID', `no method of the sweep has "${key}"`, {
      place: 'grid',
      next: `Remove it, or vary a parameter of ${used}.`,
    });
  }
}

const applied = (
  base: SweepDefinition['base'],
  settings: readonly Setting[],
): Record<string, unknown> =>
  withPathValues(
    base,
    settings.map(([key, value]) => ({
      path: key.split('.'),
      value: value ?? undefined,
    })),
    (section, index) =>
      inputError('SWEEP_INVALID', `"${section}" has no keys inside it`, {
        place: settings[index]![0],
        next: `Vary "${section}" itself.`,
      }),
  );

/** The name of the base, without what a name in a filter cannot have. */
function nameOf({ name }: SweepDefinition['base']): string {
  const text = typeof name === 'string' ? name.replaceAll(/["*]/g, '').trim() : '';
  return text === '' ? 'sweep' : text.slice(0, 80);
}
