/**
 * Requests to the inspector, and its answers. They are checked, because the inspector runs a
 * program of the user's own, which can write whatever it likes to the caller.
 */
import { z } from 'zod';
import { errorDataSchema } from '../../../shared/records/fields.ts';
import type { ModelSource } from '../models/model-file.ts';
import type { DataFacts, DataQuestion, SpecFacts } from '../data-facts.ts';
import type { ModelFacts } from '../model-facts.ts';
import type { StepBytes } from '../memory-facts.ts';
import type { MultiplyAdds } from './count-multiply-adds.ts';

const count = z.int().min(0);
const name = z.string().max(10_000);

const fieldSchema = z.object({
  type: z.enum(['f32', 'i32']),
  shape: z.array(z.union([count, z.literal('any')])).readonly(),
  below: count.optional(),
});

export const modelFactsSchema = z.object({
  id: name,
  inputs: z.record(z.string(), fieldSchema),
  tensors: z
    .array(
      z.object({ name, shape: z.array(count).readonly(), rowsOf: name.optional() }),
    )
    .readonly(),
  layers: z
    .array(z.object({ name, tensors: z.array(name).readonly() }))
    .readonly()
    .optional(),
}) satisfies z.ZodType<ModelFacts>;

const work = z.number().min(0);

const multiplyAddsSchema = z.object({
  byTensor: z.array(work).readonly(),
  others: work,
  predictions: work,
}) satisfies z.ZodType<MultiplyAdds>;

export const stepBytesSchema = z.object({
  computing: work,
  compiling: work,
}) satisfies z.ZodType<StepBytes>;

export const dataFactsSchema = z.object({
  train: count,
  test: count,
  notice: z.string().optional(),
  features: count.optional(),
  bytes: count.optional(),
  featuresFrom: z.object({ what: name, place: name }).optional(),
}) satisfies z.ZodType<DataFacts>;

/** Facts that are read for a spec before it can be launched. */
export const specFactsSchema = z.object({
  model: modelFactsSchema.optional(),
  data: dataFactsSchema.optional(),
}) satisfies z.ZodType<SpecFacts>;

export interface Inspections {
  /** A model from a file, which is an arbitrary program. */
  model: { readonly question: ModelSource; readonly answer: ModelFacts };
  /** The work of such a model's forward pass. */
  work: { readonly question: ModelSource; readonly answer: MultiplyAdds };
  /** The memory of a step of such a model. */
  step: {
    readonly question: { readonly source: ModelSource; readonly rows: number };
    readonly answer: StepBytes;
  };
  /** A data set whose files have to be read whole. */
  data: {
    readonly question: {
      readonly workload: DataQuestion;
      readonly own?: ModelFacts | undefined;
    };
    readonly answer: DataFacts;
  };
}

export type InspectorRequest = {
  readonly [K in keyof Inspections]: {
    readonly kind: K;
    readonly question: Inspections[K]['question'];
  };
}[keyof Inspections];

const answerSchemas: {
  readonly [K in keyof Inspections]: z.ZodType<Inspections[K]['answer']>;
} = {
  model: modelFactsSchema,
  work: multiplyAddsSchema,
  step: stepBytesSchema,
  data: dataFactsSchema,
};

/** A reply to a request of one kind. */
export const replySchema = <K extends keyof Inspections>(
  kind: K,
): z.ZodType<InspectorReply<Inspections[K]['answer']>> =>
  z.union([
    z.object({ error: errorDataSchema.strip() }),
    z.object({ answer: answerSchemas[kind] }),
  ]) as z.ZodType<InspectorReply<Inspections[K]['answer']>>;

export type InspectorReply<A = unknown> =
  { readonly answer: A } | { readonly error: z.infer<typeof errorDataSchema> };

/** Descriptor on which the inspector replies. */
export const REPLIES = 3;
