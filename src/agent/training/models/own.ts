/**
 * `gradwire/model`: the types for a model in a file of the user's own, which imports nothing
 * else. docs/models.md has examples.
 */
export type { BatchField, BatchFields } from '../batches/batch.ts';
export type { Metric, Tally, Totals } from '../metrics/metric.ts';
export type { ClassifierDefinition } from './classifier.ts';
export type { WholeModelDefinition as ModelDefinition } from './definition.ts';
export type {
  ClassifierLayer,
  FieldLayer,
  LayeredClassifierDefinition,
  LayeredModelDefinition,
  HeadDefinition,
} from './layers-definition.ts';
export type { Initializer, ModelStatistic, ModelTensor, Objective } from './model.ts';
