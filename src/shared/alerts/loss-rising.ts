/**
 * The training loss is above the lowest that it was. Means over stretches of iterations and all
 * ranks are compared. A part of what the run has gained is allowed too: once the loss is small, its
 * noise is large beside it, and means nothing.
 */
import { z } from 'zod';
import { formatQuantity } from '../words/units.ts';
import { alertRule } from './alert-rule.ts';
import { addToStretch, emptyStretch, stretchSchema } from './stretch-mean.ts';

/** Share of the gain, from the first stretch to the lowest, that the loss may rise by. */
const OF_GAIN = 0.1;

const stateSchema = z.object({
  stretch: stretchSchema,
  /** Means of the first stretch, and of the lowest one. */
  first: z.number().optional(),
  lowest: z.number().optional(),
});

export const lossRising = alertRule({
  id: 'loss-rising',
  title: 'Loss rising',
  about:
    'The mean training loss of a stretch of iterations is above the lowest mean before it ' +
    'by this share, and by a tenth of what the run has gained.',
  next: 'Lower the learning rate, or compress less: switch back and see whether it falls.',
  parameters: {
    iterations: {
      title: 'Iterations of a stretch',
      help: 'Iterations over which the loss is averaged.',
      default: 20,
      least: 1,
      most: 1_000_000,
      isWhole: true,
    },
    percent: {
      title: 'Rise in percent',
      help: 'Rise above the lowest mean at which the alert is raised.',
      default: 20,
      least: 1,
      most: 10_000,
    },
  },
  state: stateSchema,
  begin: (): z.infer<typeof stateSchema> => ({ stretch: emptyStretch() }),
  observe: (state, seen, { iterations, percent }) => {
    if (seen.kind !== 'record' || seen.record.type !== 'iteration') return undefined;
    const { iteration, loss } = seen.record;
    if (loss === undefined) return undefined;
    const mean = addToStretch(state.stretch, iteration, iterations, loss);
    if (mean === undefined) return undefined;
    state.first ??= mean;
    const lowest = state.lowest ?? mean;
    state.lowest = Math.min(lowest, mean);
    const gain = state.first - lowest;
    const allowed = (Math.abs(lowest) * percent) / 100 + OF_GAIN * gain;
    if (mean > lowest + allowed) {
      const message =
        `mean loss ${formatQuantity(mean)} over ${iterations} iterations, ` +
        `after ${formatQuantity(lowest)} at its lowest`;
      return { holds: true, message, iteration };
    }
    if (mean > lowest + allowed / 2) return undefined;
    return {
      holds: false,
      message: `mean loss ${formatQuantity(mean)} again`,
      iteration,
    };
  },
});
