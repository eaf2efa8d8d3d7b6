/**
 * Exchanges that Gradwire could make for a program that is only observed, predicted from its
 * tensors and the network, beside its own. Made by rank 0 once the steps have settled.
 */
import { z } from 'zod';
import { formatDuration } from '../words/units.ts';
import { count, time } from './fields.ts';
import {
  eventKind,
  NEVER_REPEATED,
  NO_TABLES,
  unchanged,
  unprinted,
} from './record-kind.ts';

const predictedExchange = {
  /** The largest bucket's collective; `allgather` if nothing is summed. */
  collective: z.string().max(100),
  /** Milliseconds in which messages are underway, in a step. */
  latency: time,
  /** Milliseconds of the bytes on the link. */
  bandwidth: time,
  /** Milliseconds of summing. */
  reduction: time,
  /** Milliseconds of compressing. */
  compress: time,
  /** Milliseconds of decompressing. */
  decompress: time,
  /** Bytes of the payloads of one rank in a step. */
  payloadBytes: z.number().min(0),
  /** Bytes that the busiest rank sends in a step, framing excluded. */
  wireBytes: z.number().min(0),
};

const predictedExchangeSchema = z.strictObject(predictedExchange);
export type PredictedExchange = Readonly<z.infer<typeof predictedExchangeSchema>>;

const offeredExchangeSchema = z.strictObject({
  /** The method's id. */
  method: z.string().max(100),
  /** The method and what matters of its parameters in a few words. */
  label: z.string().max(200),
  /** Whether `collective: auto` would choose its collective. */
  chosen: z.boolean(),
  ...predictedExchange,
});
export type OfferedExchange = Readonly<z.infer<typeof offeredExchangeSchema>>;

const forecastRecordSchema = z.strictObject({
  type: z.literal('forecast'),
  at: z.number(),
  /** Ranks that exchange. */
  ranks: count,
  /** Whether the network was measured; otherwise usual constants are assumed, as by `gradwire plan`. */
  isMeasured: z.boolean(),
  /** The exchange of the program itself, which averages without compression. */
  own: predictedExchangeSchema,
  /** Milliseconds in which a rank copies its gradient to Gradwire, and the average back, in each step. */
  copies: time,
  /**
   * Methods with their defaults, but those with momentum of their own or that move a part of the weights, by every
   * collective that `auto` may take.
   */
  offered: z.array(offeredExchangeSchema).max(1000).readonly(),
});
export type ForecastRecord = z.infer<typeof forecastRecordSchema>;

export const forecastKind = eventKind({
  schema: forecastRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: unprinted,
  tables: NO_TABLES,
  folds: false,
  text: ({ offered, own }) => ({
    tone: 'plain',
    title: 'Prediction',
    text: `an exchange of the program itself should take ${formatDuration(timeOf(own))}${shortestText(offered)}`,
  }),
  summary: unchanged,
});

/** Milliseconds of an exchange, compressing included. */
const timeOf = (one: PredictedExchange): number =>
  one.latency + one.bandwidth + one.reduction + one.compress + one.decompress;

function shortestText(offered: readonly OfferedExchange[]): string {
  const [first] = offered.toSorted((a, b) => timeOf(a) - timeOf(b));
  if (first === undefined) return '';
  return `; the shortest that Gradwire offers: ${formatDuration(timeOf(first))} by ${first.label}, ${first.collective}`;
}
