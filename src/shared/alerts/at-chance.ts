/** A run that has completed its iterations is no better than guessing. */
import { z } from 'zod';
import { describeMetric, formatMetric } from '../records/metric.ts';
import { alertRule } from './alert-rule.ts';

/** Multiple of chance below which a metric is near it, where classes are many. */
const MULTIPLE = 1.5;

const stateSchema = z.object({ chance: z.number().optional() });

export const atChance = alertRule({
  id: 'at-chance',
  title: 'At chance',
  about:
    'A run ends with an accuracy or AUC that guessing reaches, or a little more: this share ' +
    'of the way from chance to the best value, and less than one and a half times chance.',
  next: 'Look at the loss: raise the learning rate, compress less, or check the labels.',
  parameters: {
    percent: {
      title: 'Margin in percent',
      help: 'Share of the way from chance to the best value that counts as chance.',
      default: 5,
      least: 0,
      most: 90,
    },
    iterations: {
      title: 'Shortest run',
      help: 'Runs with fewer iterations have not been given the time to learn.',
      default: 50,
      least: 1,
      most: 1_000_000,
      isWhole: true,
    },
  },
  state: stateSchema,
  begin: (): z.infer<typeof stateSchema> => ({}),
  observe: (state, seen, { iterations, percent }) => {
    if (seen.kind !== 'record') return undefined;
    const { record } = seen;
    if (record.type === 'started') state.chance ??= record.chance;
    if (record.type !== 'done' || record.reason !== 'completed') return undefined;
    const { chance } = state;
    const { metric, metricKind } = record;
    if (chance === undefined || metric === undefined) return undefined;
    if (record.iterations < iterations) return undefined;
    const margin = ((1 - chance) * percent) / 100;
    const bound = chance + Math.min(margin, (MULTIPLE - 1) * chance);
    if (metric >= bound) return undefined;
    const message =
      `${describeMetric(metric, metricKind)} at the end; ` +
      `guessing reaches ${formatMetric(chance, metricKind)}`;
    return { holds: true, message, iteration: record.iterations };
  },
});
