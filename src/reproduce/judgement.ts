/**
 * Decides the parts of a figure's rule, with a bound on the probability of a false verdict
 * of the whole figure. The mean of a test's values has a confidence interval by Student's t:
 * the values are taken as independent and roughly normal.
 *
 * - A figure is confirmed only if all tests hold. If one of them is false in truth, it must
 *   hold by chance; each test holds by chance with at most `LEVEL`, so the figure is, too.
 * - A figure is refuted if any of its n claimed tests fails. Each fails by chance with at most
 *   LEVEL / n, so that together they do with at most `LEVEL`. Readings of one statement count once, since
 *   it fails only if it does by each of them.
 *
 * A test holds only if its mean is one that counts, too: an effect between the two bounds is neither shown
 * nor excluded, however sure it is. A control that fails refutes nothing: these runs could not have told.
 * Nor does a check that fails: the fault is ours.
 */
import { studentQuantile } from './student-t.ts';
import { LEAST_SEEDS, type Part, type Test, type TestedPart } from './part.ts';
import { mean } from './sweep.ts';

/** The largest probability of a false verdict of a figure. */
export const LEVEL = 0.05;
/** The power by which these runs' smallest visible effect is stated. */
const POWER = 0.8;

/** `unclear`: neither can be excluded, or this machine cannot carry the measurement. */
type Outcome = 'holds' | 'fails' | 'unclear';

export type Verdict = 'confirmed' | 'refuted' | 'undecided' | 'checked';

/** The outcome of one part of the rule. */
export interface Finding {
  readonly text: string;
  readonly kind: Part['kind'];
  readonly outcome: Outcome;
  /** Set if what was measured are readings of one statement. */
  readonly readings?: true | undefined;
  /** The reason why it is unclear, if not its values: `busy: 16 ranks on 2 processors`. */
  readonly obstacle?: string | undefined;
  readonly measured: readonly Measured[];
}

/** A test with what was measured. Of a ratio: geometric means and factors. */
interface Measured {
  readonly name?: string | undefined;
  readonly outcome: Outcome;
  readonly mean: number;
  /** The mean is between the two but for one time in ten. */
  readonly low: number;
  readonly high: number;
  readonly trueAt: number;
  readonly falseAt: number;
  /**
   * The distance from `falseAt` at which the test would hold for a true mean in four of five
   * repetitions; of a ratio: the factor.
   */
  readonly visible: number;
  /**
   * The least number of seeds that would decide an unclear test, if mean and spread stayed as they
   * are; missing if none would, and for a test that is decided.
   */
  readonly seedsToDecide?: number | undefined;
  /** The outcome with that number of seeds. */
  readonly thenOutcome?: 'holds' | 'fails' | undefined;
  /** All of that in words. */
  readonly text: string;
}

export interface Judged {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** The largest probability that the verdict is false; 0 if no chance is involved. */
  readonly falseVerdict: number;
}

/** @param obstacle why times measured here decide nothing; undefined if they can */
export function judgementOf(parts: readonly Part[], obstacle?: string): Judged {
  if (parts.length === 0) throw new Error('internal: a judgement without parts');
  const claims = parts.filter((part): part is TestedPart => part.kind === 'claim');
  const statements = claims.reduce(
    (sum, { readings, tests }) => sum + (readings === true ? 1 : tests.length),
    0,
  );
  const failing = LEVEL / Math.max(1, statements);
  const findings = parts.map((part) => findingOf(part, failing, obstacle));
  return {
    verdict: verdictOf(findings),
    findings,
    falseVerdict: statements === 0 ? 0 : LEVEL,
  };
}

/** Refuted if a claim fails, confirmed if all parts hold and one of them is a claim. */
function verdictOf(findings: readonly Pick<Finding, 'kind' | 'outcome'>[]): Verdict {
  if (findings.some(({ kind, outcome }) => kind === 'claim' && outcome === 'fails')) {
    return 'refuted';
  }
  if (findings.some(({ outcome }) => outcome !== 'holds')) return 'undecided';
  return findings.some(({ kind }) => kind === 'claim') ? 'confirmed' : 'checked';
}

function findingOf(part: Part, failing: number, obstacle?: string): Finding {
  const { kind, text } = part;
  if (kind === 'check') {
    return { kind, text, outcome: part.holds ? 'holds' : 'fails', measured: [] };
  }
  const measured = part.tests.map((test) => measure(test, failing));
  if (part.timed !== undefined && obstacle !== undefined) {
    return { kind, text, outcome: 'unclear', obstacle, measured };
  }
  const { readings } = part;
  const outcome = together(measured, readings === true);
  return { kind, text, outcome, ...(readings && { readings }), measured };
}

/** Fails if one fails, of readings if all fail; holds if all hold. */
function together(measured: readonly Measured[], areReadings: boolean): Outcome {
  const has = (outcome: Outcome): boolean =>
    measured.some((one) => one.outcome === outcome);
  if (has('fails') && areReadings && (has('holds') || has('unclear'))) return 'unclear';
  if (has('fails')) return 'fails';
  // No test: nothing that the statement is about was observed.
  return measured.length === 0 || has('unclear') ? 'unclear' : 'holds';
}

function measure(test: Test, failing: number): Measured {
  const { format, name, scale, side, values } = test;
  const count = values.length;
  if (count < LEAST_SEEDS) {
    throw new Error(`internal: ${count} seeds do not show how far chance goes`);
  }
  const [into, outOf] =
    scale === 'ratio'
      ? [Math.log, Math.exp]
      : [(value: number) => value, (value: number) => value];
  const sample = values.map(into);
  const center = mean(sample);
  const squares = sample.reduce((sum, value) => sum + (value - center) ** 2, 0);
  const error = Math.sqrt(squares / (count - 1) / count);
  const margin = (level: number, seeds = count): number =>
    error * Math.sqrt(count / seeds) * studentQuantile(1 - level, seeds - 1);
  // Towards the statement.
  const sign = side === 'atLeast' ? 1 : -1;
  const trueAt = sign * into(test.trueAt);
  const falseAt = sign * into(test.falseAt);
  const outcomeOf = (seeds: number): Outcome => {
    const isReal = sign * center - margin(LEVEL, seeds) > falseAt;
    if (isReal && sign * center >= trueAt) return 'holds';
    // Real, but smaller than what counts: neither.
    if (isReal) return 'unclear';
    return sign * center + margin(failing, seeds) < trueAt ? 'fails' : 'unclear';
  };
  const outcome = outcomeOf(count);
  // Between the two bounds more seeds only make sure that it is there.
  const isBetween = sign * center > falseAt && sign * center < trueAt;
  const seedsToDecide =
    outcome === 'unclear' && !isBetween ? decidingSeeds(outcomeOf, count) : undefined;
  // The mean has to be sure, and one that counts.
  const needed = Math.max(margin(LEVEL), Math.abs(trueAt - falseAt));
  const visible = error * studentQuantile(POWER, count - 1) + needed;
  const found = {
    outcome,
    mean: outOf(center),
    low: outOf(center - margin(LEVEL)),
    high: outOf(center + margin(LEVEL)),
    trueAt: test.trueAt,
    falseAt: test.falseAt,
    visible: outOf(visible),
    ...(seedsToDecide === undefined
      ? {}
      : { seedsToDecide, thenOutcome: decided(outcomeOf(seedsToDecide)) }),
  } as const;
  return {
    ...(name === undefined ? {} : { name }),
    ...found,
    text: textOf(found, side, format),
  };
}

const decided = (outcome: Outcome): 'holds' | 'fails' | undefined =>
  outcome === 'unclear' ? undefined : outcome;

/** The most seeds that are thought of. */
const MOST_SEEDS = 1000;

/** The least number of seeds, more than there are, from which on a test is no longer unclear. */
function decidingSeeds(
  outcomeOf: (seeds: number) => Outcome,
  count: number,
): number | undefined {
  let [unclear, decided] = [count, MOST_SEEDS];
  if (outcomeOf(decided) === 'unclear') return undefined;
  while (decided - unclear > 1) {
    const middle = Math.floor((unclear + decided) / 2);
    if (outcomeOf(middle) === 'unclear') unclear = middle;
    else decided = middle;
  }
  return decided;
}

function textOf(
  { falseAt, high, low, mean: center, trueAt, visible }: Omit<Measured, 'text'>,
  side: Test['side'],
  plain: Test['format'],
): string {
  const format = (value: number): string => plain(value).replace(/^-/, '−');
  const [toward, away] = side === 'atLeast' ? ['from', 'up to'] : ['up to', 'from'];
  const bounds =
    falseAt === trueAt
      ? `true ${toward} ${format(trueAt)}`
      : `true ${toward} ${format(trueAt)}, false ${away} ${format(falseAt)}`;
  return (
    `${format(center)} (${format(low)} to ${format(high)}), ${bounds}; ` +
    `visible here: ${format(visible)}`
  );
}
