/** Every rank moved to the next exchange plan before this iteration. Made by rank 0. */
import { z } from 'zod';
import { capitalized } from '../words/capitalized.ts';
import { describeSwitch } from '../plan/exchange-plan.ts';
import { count, planSchema, time } from './fields.ts';
import { eventKind } from './record-kind.ts';
import { number, whole, words } from './table-column.ts';

/** The fate of the state that methods and collectives keep besides the residual. */
const stateOutcomeSchema = z.enum(['none', 'kept', 'partly', 'dropped']);
export type StateOutcome = z.infer<typeof stateOutcomeSchema>;

const switchRecordSchema = z.strictObject({
  type: z.literal('switch'),
  at: z.number(),
  /** The first iteration under the new plan. */
  fence: count,
  epoch: count,
  /** The plan before. */
  from: planSchema,
  /** The plan from the fence on. */
  to: planSchema,
  /** The fate of the residual. */
  residual: z.enum(['none', 'kept', 'flushed', 'dropped']),
  /** Missing in records of earlier versions, which dropped it. */
  state: stateOutcomeSchema.optional(),
  /** Ids of the methods and collectives that lost some state. */
  stateDropped: z.array(z.string()).readonly().optional(),
  /** Whether the weights were averaged because the old method's replicas drift. */
  resynchronized: z.boolean(),
  /** The prediction that was shown before the switch. */
  foreseen: z
    .strictObject({
      /** The predicted step; milliseconds. */
      step: time,
      /** The lower end of its interval; milliseconds. */
      low: time,
      /** The upper end of its interval; milliseconds. */
      high: time,
    })
    .optional(),
  /** Reason why a guard switched back; absent if somebody asked for the switch. */
  why: z.string().optional(),
});
export type SwitchRecord = z.infer<typeof switchRecordSchema>;

export const switchKind = eventKind({
  schema: switchRecordSchema,
  repetition: {
    by: 'name',
    name: ({ epoch }) => `switch ${epoch}`,
    untilNew: false,
  },
  thinning: 'history',
  printed: (record) => {
    const { fence, from, residual, resynchronized, to, why } = record;
    const parts = [
      describeSwitch(from, to),
      ...(residual === 'none' ? [] : [`residual ${residual}`]),
      ...describeState(record),
      ...(resynchronized ? ['weights averaged'] : []),
      ...(why === undefined ? [] : [`switched back by its guard: ${why}`]),
    ];
    return [`── iteration ${fence}: ${parts.join(', ')}`];
  },
  tables: [
    {
      id: 'switches',
      title: 'Switches, with the plans before and after',
      // Whole plans are JSON.
      columns: [
        whole('iteration', (r: SwitchRecord) => r.fence),
        number('at_ms', (r: SwitchRecord) => r.at),
        whole('epoch', (r: SwitchRecord) => r.epoch),
        words('text', (r: SwitchRecord) => describeSwitch(r.from, r.to)),
        words('from_method', (r: SwitchRecord) => r.from.method),
        words('to_method', (r: SwitchRecord) => r.to.method),
        words('from_collective', (r: SwitchRecord) => r.from.collective),
        words('to_collective', (r: SwitchRecord) => r.to.collective),
        words('residual', (r: SwitchRecord) => r.residual),
        words('state', (r: SwitchRecord) => r.state),
        words('state_dropped', (r: SwitchRecord) => r.stateDropped?.join(' ')),
        whole('resynchronized', (r: SwitchRecord) => Number(r.resynchronized)),
        words('from', (r: SwitchRecord) => JSON.stringify(r.from)),
        words('to', (r: SwitchRecord) => JSON.stringify(r.to)),
      ],
    },
  ],
  folds: false,
  text: (record) => ({
    tone: 'switch',
    title: 'Switch',
    iteration: record.fence,
    text: [
      describeSwitch(record.from, record.to),
      ...RESIDUALS[record.residual],
      ...describeState(record).map(capitalized),
      ...(record.resynchronized ? ['Weights averaged'] : []),
      ...(record.why === undefined
        ? []
        : [`Switched back by its guard: ${record.why}`]),
    ]
      .map((sentence) => `${sentence}.`)
      .join(' '),
  }),
  summary: ({ to }) => ({ method: to.method }),
});

const RESIDUALS = {
  none: [],
  kept: ['Residual kept'],
  flushed: ['Residual flushed with one dense exchange'],
  dropped: ['Residual dropped'],
} as const;

/** Says what became of the state that methods and collectives keep; empty if none or unknown. */
function describeState({ state, stateDropped = [] }: SwitchRecord): readonly string[] {
  switch (state) {
    case undefined:
    case 'none':
      return [];
    case 'kept':
      return ['state kept'];
    case 'partly':
      return [`state partly dropped (${stateDropped.join(', ')})`];
    case 'dropped':
      return [`state dropped (${stateDropped.join(', ')})`];
    default:
      return state satisfies never;
  }
}
