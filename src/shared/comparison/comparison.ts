/**
 * The comparison of runs: when each reached a target and at what costs, how many times as fast one
 * configuration is as another, where their time goes, and a verdict. The page, the command and the
 * exports show this object; none computes a number of its own.
 *
 * Intervals hold together: with k configurations each has a level of 1 − 0.05/(k − 1)
 * (Bonferroni), so that the fastest of many is not so by chance.
 */
import { meanOf } from './bootstrap.ts';
import { DEFAULT_METHOD } from '../plan/exchange-plan.ts';
import { caveatsOf, resolutionCaveat } from './caveat.ts';
import type { ComparedRun, MeanStep } from './compared-run.ts';
import { meanStepOf } from './mean-step.ts';
import {
  bestOf,
  pointsOf,
  quantitiesOf,
  type Quantity,
  type QuantityId,
} from './quantity.ts';
import { differencesOf, groupsOf, type Difference } from './run-group.ts';
import { speedupOf, type GroupCosts, type Speedup } from './speedup.ts';
import {
  costsAfter,
  defaultTarget,
  outcomeOf,
  type CostId,
  type Costs,
  type Outcome,
} from './target.ts';
import { verdictOf, type Verdict } from './verdict.ts';

export interface ComparisonOptions {
  /** Default: the first that all runs have. */
  readonly quantity?: QuantityId | undefined;
  /** Default: `defaultTarget`. */
  readonly target?: number | undefined;
  /** The cost by which runs are compared and curves are aligned; default: time. */
  readonly by?: CostId | undefined;
  /** A run of the configuration that others are compared with; default: see `baselineOf`. */
  readonly baseline?: string | undefined;
}

/** A point of a curve, with the costs until then. */
interface CurvePoint extends Costs {
  readonly value: number;
}

export interface RunResult {
  readonly id: string;
  readonly name: string;
  readonly seed: number;
  readonly state: ComparedRun['state'];
  /** The number of its group. */
  readonly group: number;
  readonly outcome: Outcome;
  readonly best?: number | undefined;
  readonly points: readonly CurvePoint[];
  readonly step?: MeanStep | undefined;
}

export interface GroupResult {
  readonly label: string;
  /** Ids of its runs. */
  readonly runs: readonly string[];
  /** Different seeds, in the order of the runs. */
  readonly seeds: readonly number[];
  /** Runs that reached the target. */
  readonly reached: number;
  /** The best value of its runs. */
  readonly best?: number | undefined;
  /** Means over seeds; undefined unless all runs reached the target. */
  readonly costs?: Costs | undefined;
  /** Compared with the baseline; undefined for itself, and where there is no ratio. */
  readonly speedup?: Speedup | undefined;
  readonly step?: MeanStep | undefined;
}

export interface Comparison {
  /** The compared quantity; undefined if none was observed. */
  readonly quantity?: Quantity | undefined;
  /** Quantities that may be chosen. */
  readonly quantities: readonly Quantity[];
  readonly target?: number | undefined;
  readonly by: CostId;
  /** The number of the group that others are compared with. */
  readonly baseline: number;
  /** The level of each interval. */
  readonly level: number;
  readonly verdict: Verdict;
  readonly caveats: readonly string[];
  readonly groups: readonly GroupResult[];
  readonly runs: readonly RunResult[];
  readonly differences: readonly Difference[];
}

/** @param runs at least one, each once */
export function compareRuns(
  runs: readonly ComparedRun[],
  options: ComparisonOptions = {},
): Comparison {
  const groups = groupsOf(runs);
  const quantities = quantitiesOf(runs);
  const quantity =
    quantities.find(({ id }) => id === options.quantity) ??
    (options.quantity === undefined ? quantities[0] : undefined);
  const target =
    quantity === undefined
      ? undefined
      : (options.target ?? defaultTarget(runs, quantity));
  const { by = 'time' } = options;
  const results = groups.flatMap(({ runs: members }, group) =>
    members.map((run) => resultOf(run, group, quantity, target)),
  );
  const level = 1 - 0.05 / Math.max(1, groups.length - 1);
  const costs = groups.map((_, group) => seedCosts(results, group, by));
  const baseline = baselineOf(runs, groups, options.baseline);
  const groupResults = groups.map(({ label, runs: members }, group): GroupResult => {
    const own = results.filter((result) => result.group === group);
    return {
      label,
      runs: members.map(({ id }) => id),
      seeds: [...new Set(own.map(({ seed }) => seed))],
      reached: own.filter(({ outcome }) => outcome.kind === 'reached').length,
      best:
        quantity &&
        bestOf(
          quantity,
          own.flatMap(({ best }) =>
            best === undefined ? [] : [{ iterations: 0, value: best }],
          ),
        ),
      costs: meanCosts(results, group),
      speedup:
        group === baseline
          ? undefined
          : speedupOf(costs[group], costs[baseline], level),
      step: meanStepOf(members.map(({ step }) => step)),
    };
  });
  const order = new Map(runs.map(({ id }, index) => [id, index]));
  return {
    quantity,
    quantities,
    target,
    by,
    baseline,
    level,
    verdict: verdictOf({
      runs,
      groups: groupResults,
      results,
      costs,
      quantity,
      target,
      by,
      level,
    }),
    caveats: [...caveatsOf(runs), ...resolutionCaveat(results)],
    groups: groupResults,
    runs: results.toSorted((a, b) => order.get(a.id)! - order.get(b.id)!),
    differences: differencesOf(groups),
  };
}

function resultOf(
  run: ComparedRun,
  group: number,
  quantity: Quantity | undefined,
  target: number | undefined,
): RunResult {
  const points = quantity === undefined ? [] : pointsOf(run, quantity.id);
  return {
    id: run.id,
    name: run.name,
    seed: run.spec.seed,
    state: run.state,
    group,
    outcome:
      quantity === undefined
        ? { kind: 'unmeasured' }
        : outcomeOf(run, quantity, target),
    best: quantity && bestOf(quantity, points),
    points: points.map(({ iterations, value }) => ({
      ...costsAfter(run, iterations),
      value,
    })),
    step: run.step,
  };
}

/**
 * The group of a run; without one, the only group that sends gradients as they are, else the
 * first.
 */
function baselineOf(
  runs: readonly ComparedRun[],
  groups: ReturnType<typeof groupsOf>,
  chosen: string | undefined,
): number {
  const has = groups.findIndex(({ runs: members }) =>
    members.some(({ id }) => id === chosen),
  );
  if (has >= 0) return has;
  const dense = groups.flatMap(({ runs: members }, group) =>
    members[0]!.spec.exchange.method === DEFAULT_METHOD ? [group] : [],
  );
  return dense.length === 1 && runs.length > 1 ? dense[0]! : 0;
}

/** Costs of a group by seed; undefined unless all its runs reached the target. */
function seedCosts(
  results: readonly RunResult[],
  group: number,
  by: CostId,
): GroupCosts {
  const own = results.filter((result) => result.group === group);
  const bySeed = Map.groupBy(own, ({ seed }) => seed);
  const reached = new Map<number, number>();
  const tooFew = new Map<number, number>();
  for (const [seed, repeated] of bySeed) {
    const costs = repeated.map(({ outcome }) =>
      outcome.kind === 'reached' ? outcome.costs[by] : undefined,
    );
    if (!costs.every((cost) => cost !== undefined)) return undefined;
    const before = repeated.map(({ outcome }) =>
      outcome.kind === 'reached' ? (outcome.before[by] ?? 0) : 0,
    );
    reached.set(seed, meanOf(costs));
    tooFew.set(seed, meanOf(before));
  }
  return { reached, tooFew };
}

function meanCosts(results: readonly RunResult[], group: number): Costs | undefined {
  const [iterations, passes, time, bytes] = (
    ['iterations', 'passes', 'time', 'bytes'] as const
  ).map((by) => {
    const costs = seedCosts(results, group, by);
    return costs === undefined ? undefined : meanOf([...costs.reached.values()]);
  });
  return iterations === undefined ? undefined : { iterations, passes, time, bytes };
}
