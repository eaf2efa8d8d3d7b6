/**
 * A rank reports nothing while the run goes on. Silence is measured by this computer's clock, and
 * anew after a pause of its own: while it slept, nothing could arrive.
 */
import { z } from 'zod';
import { formatElapsed } from '../words/units.ts';
import { alertRule } from './alert-rule.ts';

/** A run whose iterations take long may be silent for this multiple of the longest pause before. */
const OF_LONGEST = 5;
/** A look that comes later than this after the last one follows a pause of this computer, ms. */
const LATE_MS = 20_000;

const stateSchema = z.object({
  /** Times at which a record last arrived, ms, by rank. */
  heard: z.record(z.string(), z.number()),
  /** The longest pause of any rank, ms. */
  longest: z.number(),
  /** The time at which the rule last looked, ms. */
  looked: z.number().optional(),
  isRunning: z.boolean(),
});

export const silentRank = alertRule({
  id: 'silent-rank',
  title: 'Rank silent',
  about:
    'Nothing has arrived from a rank for some seconds, and for five times its longest ' +
    'pause before.',
  next: 'Look at its machine: whether it is reachable, its log, and what else runs there.',
  parameters: {
    seconds: {
      title: 'Seconds',
      help: 'Least time without any record of a rank.',
      default: 60,
      least: 1,
      most: 1_000_000,
    },
  },
  state: stateSchema,
  begin: (): z.infer<typeof stateSchema> => ({
    heard: {},
    longest: 0,
    isRunning: false,
  }),
  observe: (state, seen, { seconds }) => {
    const { now } = seen;
    if (seen.kind === 'record') {
      const { record } = seen;
      if (record.type === 'iteration') {
        const last = state.heard[record.rank];
        const isKnown = last !== undefined && now - (state.looked ?? now) < LATE_MS;
        if (isKnown) state.longest = Math.max(state.longest, now - last);
        state.heard[record.rank] = now;
        state.isRunning = true;
      } else if (STOPS.has(record.type)) {
        // Silent until it trains again.
        state.isRunning = false;
        state.heard = {};
      }
      return undefined;
    }
    const wasAway = now - (state.looked ?? now) > LATE_MS;
    state.looked = now;
    if (wasAway) {
      for (const rank of Object.keys(state.heard)) state.heard[rank] = now;
    }
    const ranks = Object.entries(state.heard).sort(([, a], [, b]) => a - b);
    const [first] = ranks;
    if (!state.isRunning || first === undefined) return undefined;
    const [rank, last] = first;
    const silence = now - last;
    if (silence > Math.max(seconds * 1000, OF_LONGEST * state.longest)) {
      const others = ranks.filter(([, at]) => at === last || now - at > seconds * 1000);
      const who = others.length === ranks.length ? 'any rank' : `rank ${rank}`;
      const message = `nothing has arrived from ${who} for ${formatElapsed(silence)}`;
      return others.length === ranks.length
        ? { holds: true, message }
        : { holds: true, message, rank: Number(rank) };
    }
    if (silence > seconds * 500) return undefined;
    return { holds: false, message: 'all ranks report again' };
  },
});

/** Kinds of records after which ranks have nothing to report. */
const STOPS: ReadonlySet<string> = new Set([
  'queued',
  'interrupted',
  'restarted',
  'done',
  'failed',
]);
