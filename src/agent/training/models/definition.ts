/**
 * Models as people bring them: whole, or as a softmax classifier. They may come from files
 * that nobody has type-checked, so all of it is looked at.
 */
import { z } from 'zod';
import { metricKindSchema } from '../../../shared/metric.ts';
import { metrics } from '../metrics/registry.ts';
import type { Metric } from '../metrics/metric.ts';
import { classifier, type ClassifierDefinition } from './classifier.ts';
import { parameterCount, type Model } from './model.ts';

/** A metric may be named where it is one of ours. */
export type WholeModelDefinition = Omit<Model, 'metric' | 'predictions'> & {
  readonly metric: string | Metric;
  /** Default: 1. */
  readonly predictions?: number;
};
export type ModelDefinition = WholeModelDefinition | ClassifierDefinition;

const size = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);
const aFunction = z.custom<never>(
  (value) => typeof value === 'function',
  'not a function',
);

const tensorSchema = z.strictObject({
  name: z.string().min(1).max(200),
  shape: z.array(size).max(8),
  initialize: z.union(
    [
      z.enum(['zeros', 'ones']),
      z.strictObject({ normal: z.number().positive() }),
      z.strictObject({ uniform: z.number().positive() }),
      aFunction,
    ],
    "not 'zeros', 'ones', { normal: deviation }, { uniform: bound } or a function",
  ),
});

const common = {
  id: z.string(),
  title: z.string().min(1),
  summary: z.string(),
  tensors: z.array(tensorSchema).min(1),
};

const classifierSchema = z.strictObject({
  ...common,
  inputLength: size,
  classes: size,
  logits: aFunction,
});

const fieldSchema = z.strictObject({
  type: z.enum(['f32', 'i32']),
  shape: z.array(size).max(8),
  below: size.optional(),
});

const modelSchema = z.strictObject({
  ...common,
  inputs: z.record(z.string(), fieldSchema),
  predictions: size.optional(),
  metric: z.union([
    z.enum([...metrics.keys()]),
    metricKindSchema.extend({ sums: z.int().min(0).max(64), value: aFunction }),
  ]),
  objective: aFunction,
});

/** Why it cannot be a model; undefined where it can. */
export function modelFault(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null) return 'it is no object';
  const schema = 'logits' in definition ? classifierSchema : modelSchema;
  const parsed = schema.safeParse(definition);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    return `${path.length === 0 ? 'the definition' : `"${path.join('.')}"`}: ${message}`;
  }
  const { tensors } = parsed.data;
  const names = tensors.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return `two of its tensors have the name "${twice}"`;
  if (!Number.isSafeInteger(parameterCount({ tensors }))) return 'it is too large';
  if ('inputs' in parsed.data && Object.keys(parsed.data.inputs).length === 0) {
    return 'it takes nothing of a batch';
  }
  return undefined;
}

/** Of a definition without fault. */
export function asModel(definition: ModelDefinition): Model {
  if ('logits' in definition) return classifier(definition);
  const { metric, predictions = 1 } = definition;
  return {
    ...definition,
    predictions,
    metric: typeof metric === 'string' ? metrics.get(metric)! : metric,
    // Called on the definition, which may use `this`.
    objective: (jax, parameters, batch) => definition.objective(jax, parameters, batch),
  };
}
