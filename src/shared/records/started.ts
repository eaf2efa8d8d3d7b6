/** The workers are up and the first iteration starts. Made by the supervisor. */
import { z } from 'zod';
import { describeEmulated } from '../machines/emulated-network.ts';
import { describePlan } from '../plan/exchange-plan.ts';
import { HERE } from '../machines/machine-names.ts';
import { metricKindSchema } from './metric.ts';
import { formatCount } from '../words/units.ts';
import { backendText } from './backend-text.ts';
import { count, planSchema, processesSchema, time } from './fields.ts';
import { describePlaces, ranksOn } from './rank-places.ts';
import {
  eventKind,
  type EventNames,
  NEVER_REPEATED,
  NO_TABLES,
} from './record-kind.ts';

const emulatedLink = {
  /** Bit/s of a rank's link in each direction. */
  bandwidth: z.number().positive(),
  /** Milliseconds, one way. */
  latency: time,
};

const startedRecordSchema = z.strictObject({
  type: z.literal('started'),
  at: z.number(),
  /** Ranks of the run. */
  ranks: count,
  /** The backend that computes: `wasm`, `webgpu`, … */
  backend: z.string(),
  /** The reason why `auto` did not choose a GPU, if it did not. */
  why: z.string().optional(),
  /** Gradient elements. */
  parameters: count,
  /** Iterations that go over all training samples once; absent if there are none. */
  iterationsPerPass: z.number().positive().optional(),
  /** The model's metric; default: accuracy. */
  metricKind: metricKindSchema.optional(),
  /** The metric that guessing reaches, such as 0.1 among ten classes; absent if it is unknown. */
  chance: z.number().min(0).max(1).optional(),
  /** The plan that the run starts with. */
  plan: planSchema,
  /** The network between the ranks, if it was emulated. */
  emulated: z
    .strictObject({
      ...emulatedLink,
      /** Links between two nodes, or within one, that differed. */
      pairs: z
        .array(
          z.strictObject({
            /** The two machines, or the same one twice. */
            between: z.tuple([z.string(), z.string()]).readonly(),
            ...emulatedLink,
          }),
        )
        .readonly()
        .optional(),
    })
    .optional(),
  /** The process of each rank. */
  processes: processesSchema,
});
export type StartedRecord = z.infer<typeof startedRecordSchema>;

export const startedKind = eventKind({
  schema: startedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: (record, { hasStarted, nodes }) => {
    const { emulated, parameters, plan, processes, ranks } = record;
    if (hasStarted) return [ranksOn(processes, nodes)];
    const network =
      emulated === undefined ? '' : `; network ${describeEmulated(emulated)}`;
    const places =
      processes.length < ranks
        ? ranksOn(processes, nodes)
        : describePlaces(processes, nodes);
    return [
      `started on ${backendText(record)}: ${parameters} parameters, ${describePlan(plan)}${network}`,
      ...(places === undefined ? [] : [places]),
    ];
  },
  tables: NO_TABLES,
  folds: false,
  text: (record, names) => ({
    tone: 'plain',
    title: 'Started',
    text:
      `${placesText(record, names)} on ${backendText(record)}, ` +
      `${formatCount(record.parameters)} parameters, ${describePlan(record.plan)}` +
      (record.emulated === undefined
        ? ''
        : `, network ${describeEmulated(record.emulated)}`),
  }),
  summary: ({ metricKind = null }) => ({ running: { metricKind } }),
});

/**
 * `4 ranks`, `4 ranks at box`, or `ranks 2, 3 of 4 at box` if this record has only some of
 * them.
 */
function placesText(
  { ranks, processes }: StartedRecord,
  { machine }: EventNames,
): string {
  const names = processes.map(({ node }) => machine?.(node) ?? node);
  const places = [...new Set(names)].join(', ') || 'a machine';
  if (processes.length === ranks) {
    const isKnown = machine !== undefined && places !== HERE;
    return `${ranks} ranks${isKnown ? ` at ${places}` : ''}`;
  }
  const here = processes.map(({ rank }) => rank).join(', ');
  return `ranks ${here} of ${ranks} at ${places}`;
}
