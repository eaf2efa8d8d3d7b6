/** A spec's resolved synthetic gradient: its layers and their times. */
import { SYNTHETIC } from '../../../shared/spec/parallelism/kind.ts';
import type { DatasetEntry, ModelEntry } from '../../../shared/catalogue/catalogue.ts';
import { inputError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { NO_DATA } from '../../../shared/spec/model-name.ts';
import { nearest } from '../../../shared/words/nearest.ts';
import type { SyntheticSpec } from '../../../shared/spec/workload-spec.ts';
import { plainLayers, profiles, type ProfileLayer } from './profiles.ts';

export const syntheticEntry: ModelEntry = {
  id: SYNTHETIC,
  title: 'Synthetic gradient',
  summary: 'Trains nothing: gradients of the size and at the pace of a large network',
};

export const noDataEntry: DatasetEntry = {
  id: NO_DATA,
  title: 'No data',
  summary: 'For a synthetic gradient',
  needsData: false,
};

/** Operations per millisecond of the assumed GPU, if the spec gives no time. */
const OPERATIONS = 10e12 / 1000;
/** Operations of a backward pass, relative to a forward pass. */
const BACKWARD = 2;

export interface SyntheticLayer extends ProfileLayer {
  /** First element in the flat gradient, and how many there are. */
  readonly start: number;
  readonly length: number;
  /** The layer's part of the backward pass, ms. */
  readonly backwardMs: number;
}

export interface SyntheticWorkload {
  readonly layers: readonly SyntheticLayer[];
  readonly forwardMs: number;
  /** Elements of the flat gradient. */
  readonly length: number;
}

/** The most elements of a gradient: its vectors travel between threads by 32-bit lengths. */
const MOST_ELEMENTS = 1_000_000_000;

/** Settings that only apply to trained models. */
const IDLE = ['data', 'features', 'columns', 'samples'] as const;

interface Workload extends Pick<
  ExperimentSpec['workload'],
  'model' | 'dataset' | 'batchPerRank'
> {
  readonly synthetic?: SyntheticSpec | undefined;
  readonly data?: string | undefined;
  readonly features?: number | undefined;
  readonly columns?: object | undefined;
  readonly samples?: number | undefined;
}

export const isSynthetic = ({ model }: Pick<Workload, 'model'>): boolean =>
  model === SYNTHETIC;

/**
 * @throws GradwireError `PROFILE_UNKNOWN`; `MODEL_DATASET_MISMATCH` for any data;
 * `SYNTHETIC_INVALID`
 */
export function syntheticWorkload(workload: Workload): SyntheticWorkload {
  const { batchPerRank, dataset, synthetic } = workload;
  if (dataset !== noDataEntry.id) {
    throw inputError('MODEL_DATASET_MISMATCH', `${SYNTHETIC} takes no data`, {
      place: 'workload.dataset',
      next: `Set it to ${noDataEntry.id}.`,
    });
  }
  const idle = IDLE.find((key) => workload[key] !== undefined);
  if (idle !== undefined) {
    throw inputError('SYNTHETIC_INVALID', `${SYNTHETIC} does not use ${idle}`, {
      place: `workload.${idle}`,
      next: 'Remove it.',
    });
  }
  const layers = layersOf(synthetic);
  const all = layers.reduce((sum, { products }) => sum + products, 0);
  const estimated = (2 * all * batchPerRank * (1 + BACKWARD)) / OPERATIONS;
  const computeMs = synthetic?.computeMs ?? estimated;
  const backward = (computeMs * BACKWARD) / (1 + BACKWARD);
  let start = 0;
  const placed = layers.map((layer): SyntheticLayer => {
    const length = layer.tensors.reduce((sum, { shape }) => sum + lengthOf(shape), 0);
    const own = { start, length, backwardMs: (backward * layer.products) / all };
    start += length;
    return { ...layer, ...own };
  });
  if (start > MOST_ELEMENTS) {
    throw inputError(
      'SYNTHETIC_INVALID',
      `a gradient of ${start} elements is longer than the ${MOST_ELEMENTS} that ranks exchange`,
      { place: 'workload.synthetic', next: `Use at most ${MOST_ELEMENTS} elements.` },
    );
  }
  return { layers: placed, forwardMs: computeMs - backward, length: start };
}

export const lengthOf = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1);

function layersOf(synthetic: SyntheticSpec | undefined): readonly ProfileLayer[] {
  const { layers, profile } = synthetic ?? {};
  if (layers !== undefined) {
    if (profile === undefined) return plainLayers(layers);
    throw inputError('SYNTHETIC_INVALID', 'both a profile and layers are given', {
      place: 'workload.synthetic',
      next: 'Remove one of them.',
    });
  }
  if (profile === undefined) {
    throw inputError('SYNTHETIC_INVALID', `${SYNTHETIC} needs a profile or layers`, {
      place: 'workload.synthetic',
      next: `Set profile to ${[...profiles.keys()].join(', ')}, or layers to their lengths.`,
    });
  }
  const known = profiles.get(profile);
  if (known !== undefined) return known.layers;
  const suggestion = nearest(profile, [...profiles.keys()]);
  throw inputError('PROFILE_UNKNOWN', `there is no profile "${profile}"`, {
    place: 'workload.synthetic.profile',
    next:
      suggestion === undefined
        ? `Profiles: ${[...profiles.keys()].join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}
