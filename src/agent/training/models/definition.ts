/**
 * Models as people bring them: whole, or as a softmax classifier. They may come from files
 * that nobody has type-checked, so all of it is looked at.
 */
import { z } from 'zod';
import { metricKindSchema } from '../../../shared/metric.ts';
import { nearest } from '../../../shared/nearest.ts';
import { plainIssue } from '../../../shared/plain-issue.ts';
import { metrics } from '../metrics/registry.ts';
import type { Metric, Tally } from '../metrics/metric.ts';
import type { JaxArray } from '../runtime/jax-runtime.ts';
import { classifier, type ClassifierDefinition } from './classifier.ts';
import { modelFailed, requireShape } from './model-failed.ts';
import { parameterCount, type Model, type Objective } from './model.ts';

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
  rowsOf: z.string().optional(),
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
  shape: z.array(z.union([size, z.literal('any')])).max(8),
  below: size.optional(),
});

const metricSchema = metricKindSchema
  .extend({
    sums: z.int().min(0).max(64),
    tally: z
      .strictObject({ length: z.int().min(1).max(65_536), of: aFunction })
      .optional(),
    value: aFunction,
  })
  .refine(({ sums, tally }) => sums > 0 || tally === undefined, 'a tally of no sums');

const modelSchema = z.strictObject({
  ...common,
  inputs: z.record(z.string(), fieldSchema),
  predictions: size.optional(),
  statistics: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        shape: tensorSchema.shape.shape,
      }),
    )
    .min(1)
    .optional(),
  metric: z.union([z.enum([...metrics.keys()]), metricSchema]),
  objective: aFunction,
});

/** Why it cannot be a model; undefined where it can. */
export function modelFault(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null)
    return 'it is not an object';
  const schema = 'logits' in definition ? classifierSchema : modelSchema;
  const parsed = schema.safeParse(definition);
  if (!parsed.success) {
    return explain(parsed.error, Object.keys(schema.shape));
  }
  const { tensors } = parsed.data;
  const twice = nameOfTwo(tensors);
  if (twice !== undefined) return `two of its tensors have the name "${twice}"`;
  if (!Number.isSafeInteger(parameterCount({ tensors }))) return 'it is too large';
  if (!('inputs' in parsed.data)) {
    const table = tensors.find(({ rowsOf }) => rowsOf !== undefined);
    return table && `its tensor "${table.name}" has rowsOf, which a classifier cannot`;
  }
  const { inputs, statistics = [] } = parsed.data;
  const same = nameOfTwo(statistics);
  if (same !== undefined) return `two of its statistics have the name "${same}"`;
  if (Object.keys(inputs).length === 0) return 'it takes nothing of a batch';
  for (const tensor of tensors) {
    const fault = tableFault(tensor, inputs);
    if (fault !== undefined) return `its tensor "${tensor.name}" ${fault}`;
  }
  return undefined;
}

function nameOfTwo(things: readonly { readonly name: string }[]): string | undefined {
  const names = things.map(({ name }) => name);
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** Why rows of a tensor cannot be named by a field. */
function tableFault(
  { rowsOf, shape }: z.infer<typeof tensorSchema>,
  inputs: z.infer<typeof modelSchema>['inputs'],
): string | undefined {
  if (rowsOf === undefined) return undefined;
  const field = inputs[rowsOf];
  if (field === undefined) return `has rowsOf "${rowsOf}", which is no input`;
  const rows = shape[0] ?? 0;
  if (field.type !== 'i32' || field.below === undefined || field.below > rows) {
    return (
      `has ${rows} rows, so its input "${rowsOf}" must be of type 'i32' with a ` +
      `"below" of ${rows} at most`
    );
  }
  return undefined;
}

/** The first fault; a name that is not known before the one that is missing for it. */
function explain({ issues }: z.ZodError, names: readonly string[]): string {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const meant = path.length === 0 ? nearest(key, names) : undefined;
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `it has "${[...path, key].join('.')}", which means nothing${hint}`;
  }
  return `"${path.join('.')}": ${plainIssue(issue)}`;
}

/** Of a definition without fault. What its functions give is looked at as they are called. */
export function asModel(definition: ModelDefinition): Model {
  return 'logits' in definition
    ? classifier(definition)
    : withCheckedObjective({
        ...definition,
        predictions: definition.predictions ?? 1,
        metric: metricOf(definition.metric),
        // Called on the definition, which may use `this`.
        objective: (...given) => definition.objective(...given),
      });
}

function metricOf(metric: string | Metric): Metric {
  if (typeof metric === 'string') return metrics.get(metric)!;
  const { tally } = metric;
  if (tally === undefined) return metric;
  const of: Tally['of'] = (jax, given) => {
    const [rows] = given[0]!.shape as [number];
    const tallied = tally.of(jax, given);
    requireShape('tallies', tallied, [rows, tally.length]);
    return tallied;
  };
  return { ...metric, tally: { ...tally, of } };
}

function withCheckedObjective(model: Model): Model {
  return {
    ...model,
    objective: (jax, parameters, batch, evaluateWith) => {
      const rows = Object.values(batch)[0]!.shape[0]!;
      const given: Partial<Objective> | undefined = model.objective(
        jax,
        parameters,
        batch,
        evaluateWith,
      );
      const { losses, sums } = given ?? {};
      if (losses === undefined || sums === undefined) {
        throw modelFailed('its objective gives no { losses, sums }');
      }
      const { id, sums: count } = model.metric;
      if (sums.length !== count) {
        throw modelFailed(
          `its objective gives ${sums.length} sums, and ${id} takes ${count}`,
        );
      }
      requireShape('losses', losses, [rows]);
      for (const [i, sum] of sums.entries()) requireShape(`sums[${i}]`, sum, [rows]);
      if (evaluateWith !== undefined) return { losses, sums };
      return { losses, sums, statistics: checkedStatistics(model, given?.statistics) };
    },
  };
}

/** Those of a batch, as the model says that they are. */
function checkedStatistics(
  { statistics: wanted = [] }: Model,
  given: readonly JaxArray[] = [],
): readonly JaxArray[] {
  if (given.length !== wanted.length) {
    throw modelFailed(
      `its objective gives ${given.length} statistics in training, and it has ` +
        `${wanted.length}`,
    );
  }
  for (const [i, { name, shape }] of wanted.entries()) {
    requireShape(`statistics "${name}"`, given[i]!, shape);
  }
  return given;
}
