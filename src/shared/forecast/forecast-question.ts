/**
 * Questions to the forecaster, a process that times the methods on this computer and predicts
 * steps, and its answers. Both ends check what they get.
 */
import { z } from 'zod';
import { networkCostSchema } from '../cost-model/network-cost-schema.ts';
import { errorDataSchema } from '../records/fields.ts';
import type { Candidate } from './candidate.ts';

const seconds = z.number().min(0);
const count = z.int().min(0);

/** Most worlds that one question may ask for. */
const MOST_WORLDS = 200;
/** Most elements of a model's gradient. */
export const MOST_ELEMENTS = 1_000_000_000;

/** A number of ranks on machines and the network between them. */
const forecastWorldSchema = z.object({
  ranks: z.int().min(1),
  network: networkCostSchema,
  /** The node of each rank; default: all are on one. */
  places: z.array(count).readonly().optional(),
});
export type ForecastWorld = z.infer<typeof forecastWorldSchema>;

const forecastQuestionSchema = z.object({
  spec: z.unknown(),
  worlds: z.array(forecastWorldSchema).min(1).max(MOST_WORLDS).readonly(),
  /** Seconds of the model's computation in a step. */
  compute: seconds,
  /** Exchanges to predict beside the spec's own; default: every method with its defaults. */
  exchanges: z.array(z.looseObject({})).max(50).readonly().optional(),
  /** Elements of the gradient; its tensors grow in proportion. Default: the model's own. */
  elements: z.int().min(1).max(MOST_ELEMENTS).optional(),
  /** Names and shapes of the tensors of a program of one's own; default: those of the spec's model. */
  tensors: z
    .array(z.object({ name: z.string(), shape: z.array(count).readonly() }))
    .min(1)
    .readonly()
    .optional(),
  /** Whether a scheduler allots the ranks' machines: this one's GPUs do not tell which those have. */
  allotted: z.boolean().optional(),
  /** Whether to predict the memory of a rank. */
  memory: z.boolean(),
  /** Whether to time methods anew that were timed before. */
  rehearse: z.boolean(),
});
export type ForecastQuestion = z.infer<typeof forecastQuestionSchema>;

const candidateSchema = z.object({
  ranks: count,
  method: z.string(),
  label: z.string(),
  plan: count,
  collective: z.string(),
  servers: count.optional(),
  compute: seconds,
  compress: seconds,
  exchange: seconds,
  decompress: seconds,
  step: seconds,
  terms: z.object({ latency: seconds, bandwidth: seconds, reduction: seconds }),
  payloadBytes: z.number().min(0),
  wireBytes: z.number().min(0),
  bound: z.enum(['compute', 'compression', 'latency', 'bandwidth', 'reduction']),
  chosen: z.boolean(),
  own: z.boolean(),
  uncompressed: z.boolean(),
  speedup: z.number().min(0),
}) satisfies z.ZodType<Candidate>;

const memoryPartSchema = z.object({ name: z.string(), bytes: z.number().min(0) });

const forecastAnswerSchema = z.object({
  /** Candidates of each world, fastest first. */
  worlds: z.array(z.array(candidateSchema).readonly()).readonly(),
  /** Elements of the gradient. */
  elements: count,
  /** Memory of a rank in each world, if it was asked for. */
  memory: z.array(z.array(memoryPartSchema).readonly()).readonly().optional(),
});
export type ForecastAnswer = z.infer<typeof forecastAnswerSchema>;

export const forecastReplySchema = z
  .object({
    /** The question's id; undefined for an error of no known question: the forecaster may end. */
    id: count.optional(),
    answer: forecastAnswerSchema.optional(),
    error: errorDataSchema.strip().optional(),
  })
  .refine(({ error, id }) => id !== undefined || error !== undefined, {
    path: ['id'],
    message: 'expected the question that it answers',
  });
export type ForecastReply = z.infer<typeof forecastReplySchema>;

export const forecastCallSchema = z.object({
  id: count,
  question: forecastQuestionSchema,
});
