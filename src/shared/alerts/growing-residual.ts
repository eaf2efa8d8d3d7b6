/**
 * The residual of error feedback grows without settling: what is left out is never sent. At the
 * beginning every residual grows, at most in proportion to the iterations; from `after` on such a
 * growth is less than the factor.
 */
import { z } from 'zod';
import { formatQuantity } from '../words/units.ts';
import { alertRule } from './alert-rule.ts';
import { addToStretch, emptyStretch, stretchSchema } from './stretch-mean.ts';

/** Stretches in a row through which the residual must have grown. */
const STRETCHES = 6;

export const growingResidual = alertRule({
  id: 'growing-residual',
  title: 'Residual growing',
  about:
    'The mean norm of the residual grows through six stretches of iterations in a row, by ' +
    'this factor in all.',
  next: 'Send more entries, or lower the learning rate; a flush sends all of the residual.',
  parameters: {
    iterations: {
      title: 'Iterations of a stretch',
      help: 'Iterations over which the norm is averaged.',
      default: 50,
      least: 1,
      most: 1_000_000,
      isWhole: true,
    },
    factor: {
      title: 'Factor',
      help: 'Growth from the first of the six stretches to the last.',
      default: 2,
      least: 1.01,
      most: 1000,
    },
    after: {
      title: 'From iteration',
      help: 'Earlier growth is that of every residual at the beginning.',
      default: 500,
      least: 0,
      most: 1_000_000_000,
      isWhole: true,
    },
  },
  state: z.object({ stretch: stretchSchema, means: z.array(z.number()) }),
  begin: () => ({ stretch: emptyStretch(), means: [] as number[] }),
  observe: (state, seen, { after, factor, iterations }) => {
    if (seen.kind !== 'record' || seen.record.type !== 'iteration') return undefined;
    const { iteration, residualNorm } = seen.record;
    if (residualNorm === undefined) return undefined;
    const mean = addToStretch(state.stretch, iteration, iterations, residualNorm);
    if (mean === undefined) return undefined;
    const before = state.means.at(-1);
    if (before !== undefined && mean <= before) {
      state.means = [mean];
      return { holds: false, message: `residual ${formatQuantity(mean)}`, iteration };
    }
    state.means = [...state.means, mean].slice(-STRETCHES);
    const [first] = state.means;
    const hasGrown = state.means.length === STRETCHES && mean >= factor * first!;
    if (!hasGrown || iteration < after + STRETCHES * iterations) return undefined;
    const message =
      `mean residual norm ${formatQuantity(mean)}, ` +
      `${formatQuantity(first)} ${(STRETCHES - 1) * iterations} iterations before`;
    return { holds: true, message, iteration };
  },
});
