/** A verdict in one sentence, the same on the page and in the terminal. */
import type { Finding, Verdict } from '../judgement.ts';

export function verdictText({
  findings,
  full,
  verdict,
}: {
  /** Set if the paper’s own sizes were run. */
  readonly full?: object | undefined;
  readonly verdict: Verdict;
  readonly findings: readonly Pick<
    Finding,
    'kind' | 'measured' | 'obstacle' | 'outcome' | 'readings'
  >[];
}): string {
  switch (verdict) {
    case 'confirmed':
      return 'The direction of the claim holds here.';
    case 'refuted':
      return `The direction of the claim does not hold here, ${full === undefined ? 'at this scale' : 'with the paper’s sizes'}.`;
    case 'undecided': {
      if (
        findings.some(({ kind, outcome }) => kind === 'check' && outcome === 'fails')
      ) {
        return 'These runs cannot decide: a check of the implementation fails.';
      }
      const obstacle = findings.find((one) => one.obstacle !== undefined)?.obstacle;
      const unclear = findings.filter(({ outcome }) => outcome === 'unclear');
      if (unclear.length > 0 && unclear.every(isDisagreement)) {
        return 'These runs cannot decide: the paper leaves open what it measured, and by its readings they come to different outcomes.';
      }
      return obstacle === undefined
        ? 'These runs cannot decide: an effect that counts can be neither shown nor excluded.'
        : `These runs cannot decide (${obstacle}).`;
    }
    case 'checked':
      return 'This holds by construction: the runs check the implementation and confirm no claim.';
    default:
      return verdict satisfies never;
  }
}

/** Whether each reading is decided, and they differ. */
const isDisagreement = ({
  measured,
  readings,
}: Pick<Finding, 'measured' | 'readings'>): boolean =>
  readings === true && measured.every(({ outcome }) => outcome !== 'unclear');

/** A bound on false verdicts, in a sentence; undefined if no chance is involved, or nothing is said. */
export const chanceText = ({
  falseVerdict,
  verdict,
}: {
  readonly falseVerdict: number;
  readonly verdict: Verdict;
}): string | undefined =>
  falseVerdict === 0 || verdict === 'undecided'
    ? undefined
    : `By chance, such a verdict is false at most ${Number((100 * falseVerdict).toPrecision(6))} times in 100.`;

/** A sentence for a rule that was changed once the runs were known. @param at in milliseconds since 1970 */
export const ruleChangedText = (at: number): string =>
  `The rule was changed after the runs, on ${new Date(at).toISOString().slice(0, 10)}: they were judged again by it.`;
