/**
 * A run in progress on a machine that this computer does not follow: another computer, or another
 * home, started it, or its end was recorded here while the machine was out of reach.
 */
import { rankSpans } from './rank-spans.ts';
import { formatElapsed } from '../words/units.ts';

export interface FoundRun {
  readonly id: string;
  readonly name: string;
  /** ms since 1970, by that machine's clock. */
  readonly createdAt: number;
  /** The ranks there; missing in versions that do not state them. */
  readonly ranks?: readonly number[] | undefined;
  /** Ranks of the whole run. */
  readonly worldRanks: number;
  /** `unknown`: started elsewhere; `ended`: it has ended, as far as is known here. */
  readonly here: 'unknown' | 'ended';
}

/** `ranks 0–1 of 4, 12 min 05 s old, started elsewhere`. */
export function describeFound(run: FoundRun, now: number): string {
  const { ranks, worldRanks, createdAt, here } = run;
  const which =
    ranks === undefined || ranks.length === worldRanks
      ? worldRanks === 1
        ? '1 rank'
        : `${worldRanks} ranks`
      : `${ranks.length === 1 ? 'rank' : 'ranks'} ${rankSpans(ranks)} of ${worldRanks}`;
  const origin = here === 'unknown' ? 'started elsewhere' : 'recorded here as ended';
  return `${which}, ${formatElapsed(now - createdAt)} old, ${origin}`;
}
