/** Sentences that say what would change a verdict: seeds, a computer, or nothing but other settings. */
import type { Finding } from '../judgement.ts';
import type { Result } from '../result.ts';

type Measured = Finding['measured'][number];

export function whatWouldChange({
  findings,
  verdict,
}: Pick<Result, 'findings' | 'verdict'>): readonly string[] {
  switch (verdict) {
    case 'checked':
      return ['Only a fault of the implementation: it holds by construction.'];
    case 'confirmed':
      return narrowest(findings);
    case 'refuted':
      return [
        // Of an earlier version, a check may have.
        ...(findings.some(isRefuting)
          ? [
              `Other means of what refutes it: ${findings.filter(isRefuting).map(refuting).join('; ')}.`,
            ]
          : []),
        'More seeds hardly would: the bound on false verdicts allows for their chance. What differs from the paper may.',
      ];
    case 'undecided':
      return findings.filter(({ outcome }) => outcome !== 'holds').flatMap(deciding);
    default:
      return verdict satisfies never;
  }
}

/** Words for what that number of seeds would show; earlier results do not say. */
const THEN = {
  holds: ' would show that it holds',
  fails: ' would show that it fails',
  unclear: '',
};

const isRefuting = ({ kind, outcome }: Finding): boolean =>
  kind === 'claim' && outcome === 'fails';

function refuting({ measured, text }: Finding): string {
  const names = measured.flatMap(({ name, outcome }) =>
    outcome === 'fails' && name !== undefined ? [name] : [],
  );
  return names.length === 0 ? `“${text}”` : `“${text}” (${names.join(', ')})`;
}

/** The test, among those of all claims, whose interval ends closest to where it is false. */
function narrowest(findings: readonly Finding[]): readonly string[] {
  const tests = findings.flatMap(({ kind, measured, text }) =>
    kind === 'claim' ? measured.map((one) => ({ text, one })) : [],
  );
  const [least] = tests.toSorted((a, b) => room(a.one) - room(b.one));
  return least === undefined
    ? []
    : [
        `A mean on the other side of its bound. The part that holds most narrowly: ${named(least.text, least.one)}.`,
      ];
}

/** The distance of the mean from where the test is false, in halves of the interval. */
function room({ falseAt, high, low, mean }: Measured): number {
  // The interval of a ratio lies evenly about its mean by factors: so is its distance measured.
  const isRatio =
    low > 0 && falseAt > 0 && Math.abs((low * high) / mean ** 2 - 1) < 1e-9;
  const into = isRatio ? Math.log : (value: number) => value;
  const half = (into(high) - into(low)) / 2;
  return Math.abs(into(mean) - into(falseAt)) / Math.max(half, Number.MIN_VALUE);
}

function deciding({
  kind,
  measured,
  obstacle,
  outcome,
  readings,
  text,
}: Finding): readonly string[] {
  if (kind === 'check') return [`“${text}”: the implementation has to be mended.`];
  if (obstacle !== undefined) {
    return [
      `“${text}”: a computer that is idle and has a processor for each rank (here: ${obstacle}).`,
    ];
  }
  if (kind === 'control' && outcome === 'fails') {
    return [
      `“${text}”: settings at which this control holds; with these, no run could have told.`,
    ];
  }
  if (measured.length === 0)
    return [`“${text}”: nothing that it is about was observed.`];
  if (readings === true && willDisagree(measured)) {
    return [
      `“${text}”: knowing which reading the paper means (${outcomesOf(measured)}).`,
    ];
  }
  const unclear = measured.filter((one) => one.outcome === 'unclear');
  return unclear.map((one) => {
    const of = named(text, one);
    return one.seedsToDecide === undefined
      ? `${of}: not more seeds, if the mean stays where it is: at a bound, or between the two.`
      : `${of}: ${one.seedsToDecide} seeds${THEN[one.thenOutcome ?? 'unclear']}, if mean and spread stay as they are.`;
  });
}

/** Whether readings have, or will have, different outcomes. */
const willDisagree = (measured: readonly Measured[]): boolean =>
  new Set(measured.map(({ outcome, thenOutcome }) => thenOutcome ?? outcome)).size > 1;

/** Outcomes by reading: `holds by their average`. */
const outcomesOf = (measured: readonly Measured[]): string =>
  measured.map(({ name = '', outcome }) => `${outcome} by ${name}`).join(', ');

const named = (text: string, { name }: Measured): string =>
  name === undefined ? `“${text}”` : `“${text}” (${name})`;
