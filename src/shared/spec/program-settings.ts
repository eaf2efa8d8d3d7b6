/** The settings that a program of one's own has itself: its run is not told by what a spec says of them. */
import type { ExperimentSpec } from './experiment-spec.ts';
import { isJoining, isOpenEnded, isProgram } from './program-spec.ts';

/** Gradwire clips what a rank of a program gives to the exchange, and no average. */
const CLIPPING = ['optimizer.clipNorm', 'optimizer.clipAt'];

/** Settings that a program has, by their keys or the start of these, and what it has in their place. */
const OWN = {
  'optimizer.': 'its own optimiser',
  'workload.batchPerRank': 'its own batches',
  evaluateEvery: 'its own evaluations',
} as const;

/** Whether no program is told by a setting. @param key its path in the spec */
export const isOwnOfPrograms = (key: string): boolean =>
  Object.keys(OWN).some((start) => key.startsWith(start)) && !CLIPPING.includes(key);

/**
 * The part of a program that stands in place of a setting; undefined where the setting is used.
 * @param key its path in the spec: `optimizer.lr`
 */
export function ownOfProgram(
  { optimizer, workload }: ExperimentSpec,
  key: string,
): string | undefined {
  if (!isProgram(workload)) return undefined;
  const clips = isJoining(workload) && optimizer.clipAt === 'rank';
  if (clips && CLIPPING.includes(key)) return undefined;
  return Object.entries(OWN).find(([start]) => key.startsWith(start))?.[1];
}

/** A spec as it is shown: without settings that say nothing about its run. */
export function settingsInUse(spec: ExperimentSpec): object {
  const { iterations, workload } = spec;
  const isIdle = (key: string): boolean =>
    ownOfProgram(spec, key) !== undefined ||
    (key === 'iterations' && isOpenEnded(iterations)) ||
    (key === 'workload.dataset' && isProgram(workload)) ||
    (key.startsWith('exchange.') && workload.observe === true);
  return without(spec, '', isIdle);
}

function without(
  section: object,
  path: string,
  isIdle: (key: string) => boolean,
): object {
  const kept = Object.entries(section).flatMap(([name, value]: [string, unknown]) => {
    const key = `${path}${name}`;
    if (isIdle(key)) return [];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [[name, value]];
    }
    const rest = without(value, `${key}.`, isIdle);
    const isEmptied = Object.keys(rest).length === 0 && Object.keys(value).length > 0;
    return isEmptied ? [] : [[name, rest]];
  });
  return Object.fromEntries(kept) as object;
}
