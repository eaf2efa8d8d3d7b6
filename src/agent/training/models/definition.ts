/**
 * Users' own models: whole, or as a softmax classifier, as one function or as layers. They may
 * come from files that were never type-checked, so everything is checked.
 */
import { z } from 'zod';
import { metricKindSchema } from '../../../shared/records/metric.ts';
import { nearest } from '../../../shared/words/nearest.ts';
import { plainIssue } from '../../../shared/checks/plain-issue.ts';
import { metrics } from '../metrics/registry.ts';
import type { Metric, Tally } from '../metrics/metric.ts';
import { withCheckedObjective } from './checked-objective.ts';
import { classifier, type ClassifierDefinition } from './classifier.ts';
import {
  aFunction,
  aName,
  aShape,
  inputsSchema,
  nameOfTwo,
  size,
  sizeFault,
  tableFault,
  tensorSchema,
} from './definition-schemas.ts';
import type {
  LayeredClassifierDefinition,
  LayeredModelDefinition,
} from './layers-definition.ts';
import {
  classifierLayerSchema,
  fieldLayerSchema,
  headSchema,
  layersFault,
} from './layers-fault.ts';
import { requireShape } from './model-failed.ts';
import type { Model, ModelStatistic } from './model.ts';
import { layeredClassifier, layeredModel } from './own-layers.ts';

/** A model without layers of Gradwire's. Its metric may be one of Gradwire's, by name. */
export type WholeModelDefinition = Omit<Model, 'metric' | 'predictions'> & {
  readonly metric: string | Metric;
  /** Predictions per sample; default: 1. */
  readonly predictions?: number;
};
export type ModelDefinition =
  | WholeModelDefinition
  | ClassifierDefinition
  | LayeredModelDefinition
  | LayeredClassifierDefinition;

const common = {
  id: z.string(),
  title: z.string().min(1),
  summary: z.string(),
};
const tensors = z.array(tensorSchema).min(1);
const ofClassifier = { ...common, inputLength: size, classes: size };

const metricSchema = metricKindSchema
  .extend({
    sums: z.int().min(0).max(64),
    tally: z
      .strictObject({ length: z.int().min(1).max(65_536), of: aFunction })
      .optional(),
    value: aFunction,
  })
  .refine(({ sums, tally }) => sums > 0 || tally === undefined, 'a tally with no sums');

const ofModel = {
  ...common,
  inputs: inputsSchema,
  predictions: size.optional(),
  metric: z.union([z.enum([...metrics.keys()]), metricSchema]),
};

const classifierSchema = z.strictObject({
  ...ofClassifier,
  tensors,
  logits: aFunction,
});
const layeredClassifierSchema = z.strictObject({
  ...ofClassifier,
  layers: z.array(classifierLayerSchema).min(1),
});
const modelSchema = z.strictObject({
  ...ofModel,
  tensors,
  statistics: z
    .array(z.strictObject({ name: aName, shape: aShape, around: aName.optional() }))
    .min(1)
    .optional(),
  objective: aFunction,
});
const layeredModelSchema = z.strictObject({
  ...ofModel,
  layers: z.array(fieldLayerSchema).min(1),
  head: headSchema,
});

/** Keys that a model follows from; a definition has one of them. */
const COMPUTES = ['layers', 'logits', 'objective'] as const;

/** Explains why a definition cannot be a model; undefined if it can. */
export function modelFault(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null)
    return 'it is not an object';
  const computes = COMPUTES.filter((key) => key in definition);
  if (computes.length > 1) {
    return `it has both "${computes[0]}" and "${computes[1]}": use only one`;
  }
  const isClassifier = ['logits', 'inputLength', 'classes'].some(
    (key) => key in definition,
  );
  return 'layers' in definition
    ? layeredFault(definition, isClassifier)
    : wholeFault(definition, isClassifier);
}

function wholeFault(definition: object, isClassifier: boolean): string | undefined {
  const schema = isClassifier ? classifierSchema : modelSchema;
  const parsed = schema.safeParse(definition);
  if (!parsed.success) {
    const isMeant = unknownKey(parsed.error) !== undefined;
    if (!isMeant && !COMPUTES.some((key) => key in definition)) {
      return `it has neither "layers" nor "${isClassifier ? 'logits' : 'objective'}"`;
    }
    return explain(parsed.error, [...Object.keys(schema.shape), 'layers']);
  }
  const given = parsed.data;
  const twice = nameOfTwo(given.tensors);
  if (twice !== undefined) return `two of its tensors have the name "${twice}"`;
  const large = sizeFault(given.tensors);
  if (large !== undefined) return large;
  if (!('inputs' in given)) {
    const table = given.tensors.find(({ rowsOf }) => rowsOf !== undefined);
    return (
      table &&
      `its tensor "${table.name}" has rowsOf, which a classifier does not support`
    );
  }
  const { inputs, statistics = [] } = given;
  const same = nameOfTwo(statistics);
  if (same !== undefined) return `two of its statistics have the name "${same}"`;
  for (const statistic of statistics) {
    const fault = centreFault(statistic, statistics);
    if (fault !== undefined) return `its statistic "${statistic.name}" ${fault}`;
  }
  if (Object.keys(inputs).length === 0) return 'it uses no field of a batch';
  for (const tensor of given.tensors) {
    const fault = tableFault(tensor, inputs);
    if (fault !== undefined) return `its tensor "${tensor.name}" ${fault}`;
  }
  return undefined;
}

/** Explains why a statistic cannot be a variance around the one that it names. */
function centreFault(
  { around, shape }: ModelStatistic,
  statistics: readonly ModelStatistic[],
): string | undefined {
  if (around === undefined) return undefined;
  const centre = statistics.find(({ name }) => name === around);
  if (centre === undefined) return `is around "${around}", which is none of them`;
  if (centre.around !== undefined) return `is around "${around}", which is a variance`;
  if (centre.shape.join() === shape.join()) return undefined;
  return `has the shape [${shape.join(', ')}], but "${around}" has [${centre.shape.join(', ')}]`;
}

function layeredFault(definition: object, isClassifier: boolean): string | undefined {
  if ('tensors' in definition) {
    return 'it has layers and "tensors": define the tensors in the layers';
  }
  if ('statistics' in definition) {
    return 'it has layers and "statistics": a model of layers cannot have statistics';
  }
  const schema = isClassifier ? layeredClassifierSchema : layeredModelSchema;
  const parsed = schema.safeParse(definition);
  return parsed.success
    ? layersFault(parsed.data)
    : explain(parsed.error, Object.keys(schema.shape));
}

const unknownKey = ({ issues }: z.ZodError) =>
  issues.find(({ code }) => code === 'unrecognized_keys');

/** Picks the issue of a union's member that was meant: the one that looks deepest. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  // Some unions have words of their own.
  if (issue.code !== 'invalid_union' || issue.message !== 'Invalid input') return issue;
  const all = issue.errors.map(([first]) => first!);
  const meant =
    all.find(({ path }) => path.length > 0) ??
    all.find(({ code }) => code !== 'invalid_type');
  if (meant === undefined) return issue;
  return innermost({ ...meant, path: [...issue.path, ...meant.path] });
}

/** The first fault; unknown keys come before missing ones. */
function explain(error: z.ZodError, names: readonly string[]): string {
  const issue = unknownKey(error) ?? innermost(error.issues[0]!);
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const meant = path.length === 0 ? nearest(key, names) : undefined;
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `it has an unknown key "${[...path, key].join('.')}"${hint}`;
  }
  return `"${path.join('.')}": ${plainIssue(issue)}`;
}

/**
 * The model of a valid definition. Results of its functions are checked when they are called.
 */
export function asModel(definition: ModelDefinition): Model {
  if ('logits' in definition) return classifier(definition);
  if ('classes' in definition) return layeredClassifier(definition);
  if ('layers' in definition) {
    return layeredModel(definition, metricOf(definition.metric));
  }
  return withCheckedObjective({
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
