/** What a figure's judge makes of results that no run gave. */
import { verdictOf, type Figure } from '../../../src/reproduce/figure.ts';
import { madeUpSweep } from './made-up-sweep.ts';

export type Values = Parameters<typeof madeUpSweep>[1];

/** The verdict, and the parts of the rule that do not hold. */
export function judged(figure: Figure, values: Values) {
  const { findings } = figure.judge(madeUpSweep(figure, values));
  const outcomes = findings
    .filter(({ outcome }) => outcome !== 'holds')
    .map(({ text, outcome }) => `${outcome}: ${text}`);
  return { verdict: verdictOf(findings), outcomes };
}

/** A number at the end of a part of a case's id: `p8-d0.1`. */
export const part = (id: string, letters: string): number =>
  Number(new RegExp(`${letters}([\\d.]+)`).exec(id)![1]);
