/** What a figure's judge makes of results that no run gave. */
import type { Figure } from '../../../src/reproduce/figure.ts';
import { judgementOf, type Finding } from '../../../src/reproduce/judgement.ts';
import { madeUpSweep } from './made-up-sweep.ts';

export type Values = Parameters<typeof madeUpSweep>[1];

/** The verdict, and the parts of the rule that do not hold, with the tests that do not. */
export function judged(figure: Figure, values: Values) {
  const { parts } = figure.judge(madeUpSweep(figure, values));
  const { findings, verdict } = judgementOf(parts);
  const outcomes = findings
    .filter(({ outcome }) => outcome !== 'holds')
    .map((finding) => `${finding.outcome}: ${finding.text}${namesOf(finding)}`);
  return { verdict, outcomes };
}

function namesOf({ measured, outcome }: Finding): string {
  const names = measured.flatMap((one) =>
    one.outcome === outcome && one.name !== undefined ? [one.name] : [],
  );
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

/** A number at the end of a part of a case's id: `p8-d0.1`. */
export const part = (id: string, letters: string): number =>
  Number(new RegExp(`${letters}([\\d.]+)`).exec(id)![1]);
