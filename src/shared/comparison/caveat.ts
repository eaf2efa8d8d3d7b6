/** Circumstances that may make a comparison of runs unfair, in sentences. */
import { hasEnded } from '../records/run-state.ts';
import { formatCount, formatWholePercent } from '../words/units.ts';
import type { ComparedRun } from './compared-run.ts';
import type { RunResult } from './comparison.ts';

export function caveatsOf(runs: readonly ComparedRun[]): readonly string[] {
  const named = (chosen: readonly ComparedRun[]): string => namesOf(runs, chosen);
  const sentence = (
    chosen: readonly ComparedRun[],
    text: (names: string, are: 'is' | 'are', were: 'was' | 'were') => string,
  ): readonly string[] =>
    chosen.length === 0
      ? []
      : [
          text(
            named(chosen),
            chosen.length === 1 ? 'is' : 'are',
            chosen.length === 1 ? 'was' : 'were',
          ),
        ];
  const disturbed = runs.filter((run) => runs.some((other) => overlaps(run, other)));
  return [
    ...sentence(
      disturbed,
      (names) => `${names} ran at the same time on the same machine, which slows both.`,
    ),
    ...sentence(
      runs.filter(({ isDiverged }) => isDiverged),
      (names) => `${names} diverged: a loss or a metric was not finite.`,
    ),
    ...sentence(
      runs.filter(({ state }) => state === 'failed'),
      (names) => `${names} failed before the end.`,
    ),
    ...sentence(
      runs.filter(({ state }) => !hasEnded(state)),
      (names, are) => `${names} ${are} still going.`,
    ),
    ...sentence(
      runs.filter(({ interruptions }) => interruptions > 0),
      (names, _are, were) =>
        `${names} ${were} interrupted; the lost time is not in the training time.`,
    ),
    ...sentence(
      runs.filter(({ missing }) => missing.length > 0),
      (names) => `Records of some machines of ${names} are missing.`,
    ),
    ...sentence(
      runs.filter(({ switches }) => switches.length > 0),
      (names, _are, were) =>
        `${names} ${were} switched in mid-run; the mean step has all plans in it.`,
    ),
  ];
}

/** Names of runs; the id is added where several have the name. */
function namesOf(all: readonly ComparedRun[], chosen: readonly ComparedRun[]): string {
  if (chosen.length === all.length && all.length > 2) return 'All runs';
  const names = chosen.map(({ id, name }) =>
    all.filter((other) => other.name === name).length > 1 ? `${name} (${id})` : name,
  );
  if (names.length === 1) return names[0]!;
  if (names.length > MOST_NAMED) return `${names.length} runs`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

const MOST_NAMED = 4;

function overlaps(run: ComparedRun, other: ComparedRun): boolean {
  if (run.id === other.id) return false;
  if (!run.nodes.some((node) => other.nodes.includes(node))) return false;
  if (run.startedAt === undefined || other.startedAt === undefined) return false;
  const end = ({ endedAt = Infinity }: ComparedRun): number => endedAt;
  return run.startedAt < end(other) && other.startedAt < end(run);
}

/** The part of the way to the target that one evaluation may cover without a word. */
const FINE = 0.1;

/** Says how much evaluations that are far apart round the costs up, if it is more than that. */
export function resolutionCaveat(results: readonly RunResult[]): readonly string[] {
  let [gap, coarsest] = [0, 0];
  for (const { outcome } of results) {
    if (outcome.kind !== 'reached') continue;
    const before = outcome.before.iterations;
    const since = outcome.costs.iterations - before;
    if (since / before <= coarsest) continue;
    [gap, coarsest] = [since, since / before];
  }
  if (coarsest <= FINE) return [];
  const rounding = Number.isFinite(coarsest)
    ? `costs to it are up to ${formatWholePercent(coarsest)} too high`
    : 'the first evaluation may have come long after it, so costs to it are upper bounds';
  return gap === 1
    ? [`The target is reached within a few iterations: ${rounding}.`]
    : [
        `The target is seen only every ${formatCount(gap)} iterations: ${rounding}. ` +
          'Evaluate more often for finer ones.',
      ];
}
