/**
 * The catalogue of this agent's methods, collectives, models and data sets, made from its
 * registries.
 */
import type { Catalogue, OptimizerEntry } from '../../shared/catalogue/catalogue.ts';
import { describeCollectives } from '../collectives/registry.ts';
import { describeMethods } from '../methods/registry.ts';
import { profiles } from '../training/synthetic/profiles.ts';
import { collectivesOfMethod } from '../plan/collectives-of-method.ts';
import {
  describeDatasets,
  describeModels,
  describeOptimizers,
} from '../training/workload-catalogue.ts';

/** Descriptions that catalogues of earlier versions lack. */
interface WithOptimizers {
  readonly describedOptimizers: readonly OptimizerEntry[];
}

export function makeCatalogue(): Catalogue & WithOptimizers {
  const describedOptimizers = describeOptimizers();
  return {
    methods: describeMethods().map((method) => ({
      ...method,
      collectives: collectivesOfMethod(method.id),
    })),
    collectives: describeCollectives(),
    models: describeModels(),
    datasets: describeDatasets(),
    optimizers: describedOptimizers.map(({ id }) => id),
    describedOptimizers,
    backends: ['auto', 'wasm', 'webgpu', 'torch'],
  };
}

/** Names of the networks whose layers synthetic gradients may have. */
export const syntheticProfiles = (): readonly string[] => [...profiles.keys()];
