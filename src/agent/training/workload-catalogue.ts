/** The agent's models, data sets and optimisers, as its catalogue lists them. */
import type {
  DatasetEntry,
  ModelEntry,
  OptimizerEntry,
} from '../../shared/catalogue/catalogue.ts';
import { datasets } from './datasets/registry.ts';
import { isSized } from './model-facts.ts';
import { isLayered } from './models/layered.ts';
import { parameterCount } from './models/model.ts';
import { models } from './models/registry.ts';
import { optimizers } from './optimizers/registry.ts';
import { programEntry } from './program-workload.ts';
import { noDataEntry, syntheticEntry } from './synthetic/synthetic-workload.ts';

export { isRegistered } from './models/registry.ts';

/** All models, those without data of their own last. */
export function describeModels(): ModelEntry[] {
  const trained = [...models.values()].map((model) => ({
    id: model.id,
    title: model.title,
    summary: model.summary,
    ...(isSized(model) ? {} : { parameterCount: parameterCount(model) }),
  }));
  return [...trained, syntheticEntry, programEntry];
}

/** All data sets, and that of no data. */
export function describeDatasets(): DatasetEntry[] {
  const known = [...datasets.values()].map((dataset) => {
    const { id, title, summary, needsData, takesColumns, takesSamples } = dataset;
    return {
      id,
      title,
      summary,
      needsData,
      ...(dataset.features === undefined ? {} : { hasFeatures: true }),
      ...(takesColumns === undefined ? {} : { takesColumns }),
      ...(takesSamples === undefined ? {} : { takesSamples }),
    };
  });
  return [...known, noDataEntry];
}

/** All optimisers. */
export function describeOptimizers(): OptimizerEntry[] {
  return [...optimizers.values()].map((optimizer) => ({
    id: optimizer.id,
    title: optimizer.title,
    summary: optimizer.summary,
    source: optimizer.source,
    options: optimizer.options,
    leavesMomentum: optimizer.leavesMomentum,
    trainsTables: optimizer.tableRule !== undefined,
  }));
}

/** Ids of the models that can be split into stages. */
export const splittableModels = (): readonly string[] =>
  [...models.values()]
    .filter((model) => isLayered(isSized(model) ? model.ofFeatures(1) : model))
    .map(({ id }) => id);
