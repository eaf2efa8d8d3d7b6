/**
 * The verdict of a comparison in one sentence. It names a winner only if the interval of its ratio
 * to each other configuration that reached the target lies above 1, and says otherwise why it
 * does not, and what would help.
 */
import { capitalized } from '../words/capitalized.ts';
import { formatFactor, formatPercent, shorten } from '../words/units.ts';
import { FEWEST_SEEDS, meanOf } from './bootstrap.ts';
import type { ComparedRun } from './compared-run.ts';
import type { GroupResult, RunResult } from './comparison.ts';
import { formatValue, sharesMetric, type Quantity } from './quantity.ts';
import { speedupOf, type GroupCosts, type Speedup } from './speedup.ts';
import type { CostId } from './target.ts';

/**
 * - `faster`: the group is better than every other.
 * - `only`: no other group reached the target in any run.
 * - `abstains`: there is no winner, or it is not known.
 */
export interface Verdict {
  readonly kind: 'faster' | 'only' | 'abstains';
  /** The number of the winner; undefined if it abstains. */
  readonly group?: number | undefined;
  readonly text: string;
}

export interface VerdictFacts {
  readonly runs: readonly ComparedRun[];
  readonly groups: readonly GroupResult[];
  readonly results: readonly RunResult[];
  /** Costs by group. */
  readonly costs: readonly GroupCosts[];
  readonly quantity: Quantity | undefined;
  readonly target: number | undefined;
  readonly by: CostId;
  readonly level: number;
}

const abstains = (text: string): Verdict => ({
  kind: 'abstains',
  text: `No verdict: ${text}`,
});

export function verdictOf(facts: VerdictFacts): Verdict {
  const { groups, quantity, results, runs, target } = facts;
  if (runs.length < 2) return abstains('one run has nothing to be compared with.');
  if (groups.length < 2) {
    return abstains('all runs have the same settings, except perhaps the seed.');
  }
  const unlike = unlikeness(runs);
  if (unlike !== undefined) return abstains(unlike);
  if (quantity === undefined || target === undefined) {
    return abstains('the runs have no loss or metric to compare.');
  }
  const goal = goalText(quantity, target);
  const going = results.filter(({ outcome }) => outcome.kind === 'open');
  if (going.length > 0) {
    const who = going.length === 1 ? going[0]!.name : `${going.length} runs`;
    return abstains(
      `${who} may still reach ${goal}. It comes with the end of the run.`,
    );
  }
  const unmeasured = groups.find((_, group) =>
    results.some(
      (result) => result.group === group && result.outcome.kind === 'unmeasured',
    ),
  );
  if (unmeasured !== undefined) {
    return abstains(`${unmeasured.label} has no ${quantity.title} to compare.`);
  }
  if (groups.every(({ reached }) => reached === 0)) {
    return abstains(`no run reached ${goal}. Choose an easier target.`);
  }
  return amongReached(facts, quantity, goal);
}

/** Groups of which all, some or no runs reached the target; all runs have an outcome. */
function amongReached(facts: VerdictFacts, quantity: Quantity, goal: string): Verdict {
  const { costs, groups } = facts;
  const whole = groups.flatMap((_, group) =>
    costs[group] === undefined ? [] : [group],
  );
  const short = groups.filter(({ reached, runs }) => reached < runs.length);
  if (whole.length + short.length < groups.length) {
    return abstains(`nobody counted the ${COST_NOUNS[facts.by]} of some runs.`);
  }
  if (whole.length === 0) {
    return abstains(`${shortText(short)}. Choose an easier target, or train longer.`);
  }
  const [first, ...others] = whole.toSorted(
    (a, b) => meanCost(costs[a]) - meanCost(costs[b]),
  );
  const winner = groups[first!]!;
  const rivals = others.map((group) => ({
    group,
    speedup: speedupOf(costs[first!], costs[group], facts.level),
  }));
  if (rivals.length === 0) return onlyOne(winner, first!, short, quantity, goal);
  return against(facts, { winner, first: first!, others: rivals, short, goal });
}

function onlyOne(
  winner: GroupResult,
  group: number,
  short: readonly GroupResult[],
  quantity: Quantity,
  goal: string,
): Verdict {
  const claim = `only ${winner.label} reached ${goal} in every run`;
  if (short.some(({ reached }) => reached > 0)) {
    return abstains(
      `${claim}; ${shortText(short)}. Choose an easier target, or train longer.`,
    );
  }
  const few = [winner, ...short].filter(({ seeds }) => seeds.length < FEWEST_SEEDS);
  const others = short
    .map(({ best, label }) => `${label} came to ${formatValue(quantity, best)}`)
    .join(', ');
  if (few.length > 0) return abstains(`${claim}; ${others}. ${moreSeeds(few)}`);
  return {
    kind: 'only',
    group,
    text: `${capitalized(claim)} (${seedsText([winner, ...short])}); ${others}.`,
  };
}

/** `qsgd reached it in 1 of 3 runs only, onebit never reached it` */
const shortText = (short: readonly GroupResult[]): string =>
  short
    .map(({ label, reached, runs }) =>
      reached === 0
        ? `${label} never reached it`
        : `${label} reached it in ${reached} of ${runs.length} runs only`,
    )
    .join(', ');

interface Contest {
  readonly winner: GroupResult;
  readonly first: number;
  readonly others: readonly {
    readonly group: number;
    readonly speedup: Speedup | undefined;
  }[];
  /** Groups of which some runs did not reach the target. */
  readonly short: readonly GroupResult[];
  readonly goal: string;
}

function against(
  { by, groups, level }: VerdictFacts,
  { first, goal, others, short, winner }: Contest,
): Verdict {
  const next = others[0]!;
  const rival = groups[next.group]!;
  const times = factorText(next.speedup?.ratio);
  const claim = `${winner.label} ${WON[by](goal, times)} ${rival.label}`;
  const contestants = [winner, ...others.map(({ group }) => groups[group]!)];
  const few = contestants.filter(({ seeds }) => seeds.length < FEWEST_SEEDS);
  if (next.speedup === undefined) {
    return abstains(`${winner.label} spent no ${COST_NOUNS[by]}: there is no ratio.`);
  }
  if (few.length > 0) {
    return abstains(`${claim}, but ${fewText(few)}. ${moreSeeds(few)}`);
  }
  const unclear = others.find(({ speedup }) => !((speedup?.low ?? 0) > 1));
  if (unclear !== undefined) {
    const { label } = groups[unclear.group]!;
    return abstains(
      `${winner.label} and ${label} cannot be told apart. ${winner.label} ` +
        `${WON[by](goal, factorText(unclear.speedup?.ratio))} ${label}, but the ` +
        `${intervalText(unclear.speedup, level)} includes 1. More seeds would narrow it.`,
    );
  }
  const rest = others.length > 1 ? `, the next of ${contestants.length}` : '';
  const seeds = seedsText(contestants);
  const missed = short.length === 0 ? '' : ` Others fell short: ${shortText(short)}.`;
  return {
    kind: 'faster',
    group: first,
    text: `${claim}${rest} (${intervalText(next.speedup, level)}; ${seeds}).${missed}`,
  };
}

const WON: Readonly<Record<CostId, (goal: string, times: string) => string>> = {
  time: (goal, times) => `reaches ${goal} ${times} as fast as`,
  iterations: (goal, times) => `reaches ${goal} in ${times} fewer iterations than`,
  passes: (goal, times) => `reaches ${goal} in ${times} fewer passes than`,
  bytes: (goal, times) => `reaches ${goal} with ${times} fewer bytes than`,
};

const COST_NOUNS: Readonly<Record<CostId, string>> = {
  time: 'time',
  iterations: 'iterations',
  passes: 'passes over the data',
  bytes: 'bytes',
};

/** `accuracy 90 %`, `loss 0.31` */
export const goalText = (quantity: Quantity, target: number): string =>
  `${quantity.title} ${shorten(formatValue(quantity, target))}`;

/** `95 % interval 2.9× to 3.5×` */
export const intervalText = (
  interval: Pick<Speedup, 'low' | 'high'> | undefined,
  level: number,
): string =>
  `${shorten(formatPercent(level))} interval ${factorText(interval?.low)} to ${factorText(interval?.high)}`;

/** A factor, with more digits where it would look like 1: `1.004×`. */
function factorText(factor: number | undefined): string {
  const isNearOne =
    factor !== undefined && factor !== 1 && Math.abs(factor - 1) < 0.005;
  return isNearOne ? `${factor.toFixed(4)}×` : formatFactor(factor);
}

function seedsText(groups: readonly GroupResult[]): string {
  const counts = [...new Set(groups.map(({ seeds }) => seeds.length))];
  return counts.length === 1
    ? `${counts[0]!} seeds each`
    : groups.map(({ label, seeds }) => `${label}: ${seeds.length} seeds`).join(', ');
}

function fewText(few: readonly GroupResult[]): string {
  const counts = [...new Set(few.map(({ seeds }) => seeds.length))];
  if (counts.length > 1) return 'there are too few seeds';
  const each = few.length > 1 ? ' each' : ` of ${few[0]?.label ?? 'it'}`;
  return counts[0] === 1
    ? `one seed${each} is too few`
    : `${counts[0] ?? 0} seeds${each} are too few`;
}

const moreSeeds = (few: readonly GroupResult[]): string =>
  few.length === 0
    ? ''
    : `Run ${few.length > 1 ? 'each' : few[0]!.label} with at least ${FEWEST_SEEDS} seeds.`;

const meanCost = (costs: GroupCosts): number => meanOf([...costs!.reached.values()]);

/** The reason why times to a target of these runs say nothing, if there is one. */
function unlikeness(runs: readonly ComparedRun[]): string | undefined {
  const differ = (value: (run: ComparedRun) => string | undefined): boolean =>
    new Set(runs.map(value)).size > 1;
  if (differ(({ spec }) => spec.workload.model)) {
    return 'the runs train different models.';
  }
  if (
    differ(({ spec }) => spec.workload.dataset) ||
    differ(({ spec }) => spec.workload.data)
  ) {
    return 'the runs train on different data.';
  }
  return sharesMetric(runs) ? undefined : 'the runs have different metrics.';
}
