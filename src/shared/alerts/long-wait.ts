/** A rank waits for others during most of its step. */
import { z } from 'zod';
import { formatWholePercent } from '../words/units.ts';
import { alertRule } from './alert-rule.ts';

/** Share of the bound below which an iteration counts towards the alert's end. */
const CALM = 0.8;

export const longWait = alertRule({
  id: 'long-wait',
  title: 'Long wait',
  about:
    'A rank waits for other ranks for more than a share of the step, in several steps in a row.',
  next: 'See which rank is awaited, and why: its node, its link, or the work that it has.',
  parameters: {
    percent: {
      title: 'Wait in percent',
      help: 'Share of a step that is spent waiting for other ranks.',
      default: 50,
      least: 1,
      most: 100,
    },
    iterations: {
      title: 'Iterations in a row',
      help: 'Consecutive iterations of a rank for which that must hold.',
      default: 20,
      least: 1,
      most: 100_000,
      isWhole: true,
    },
  },
  state: z.object({
    /** Iterations in a row with a long wait, by rank. */
    long: z.record(z.string(), z.number()),
    /** Iterations in a row of any rank without one. */
    calm: z.number(),
    ranks: z.number(),
  }),
  begin: () => ({ long: {} as Record<string, number>, calm: 0, ranks: 1 }),
  observe: (state, seen, { iterations, percent }) => {
    if (seen.kind !== 'record' || seen.record.type !== 'iteration') return undefined;
    const { iteration, phases, rank, waitedFor, wall } = seen.record;
    state.ranks = Math.max(state.ranks, rank + 1);
    const share = wall > 0 ? phases.wait / wall : 0;
    const bound = percent / 100;
    state.calm = share < CALM * bound ? state.calm + 1 : 0;
    const long = share > bound ? (state.long[rank] ?? 0) + 1 : 0;
    state.long[rank] = long;
    if (long >= iterations) {
      const [awaited] = Object.entries(waitedFor ?? {}).sort(([, a], [, b]) => b - a);
      const whom = awaited === undefined ? '' : `, mostly for rank ${awaited[0]}`;
      const message =
        `rank ${rank} waited for more than ${percent} % of each of ${long} steps, ` +
        `${formatWholePercent(share)} of the last one${whom}`;
      return { holds: true, message, rank, iteration };
    }
    if (state.calm < iterations * state.ranks) return undefined;
    return { holds: false, message: 'no rank waits that long any more', iteration };
  },
});
