/** A2SGD and the methods that it is compared with, as its paper configures them. */
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { formatPercent } from '../../shared/words/units.ts';
import type { Setting } from '../figure.ts';
import { claimByReadings, exceeds, named, type Part } from '../part.ts';
import { doneOf } from '../run-measures.ts';

/** More than any tensor has, so that each has one scale. */
const WHOLE_TENSOR = 2 ** 26;

/** Four levels of one ℓ₂ norm for each tensor. */
const A2SGD_QSGD = {
  method: 'qsgd',
  levels: 4,
  scale: 'l2',
  bucket: WHOLE_TENSOR,
} as const;

const SHARE = 0.001;

export const DENSE = {
  id: 'none',
  name: 'dense',
  exchange: { method: 'none' },
} as const;

/** All that compress. */
export const COMPRESSORS = [
  { id: 'a2sgd', name: 'A2SGD', exchange: { method: 'a2sgd' } },
  {
    id: 'gaussiank',
    name: 'Gaussian-k',
    exchange: { method: 'gaussiank', ratio: SHARE },
  },
  { id: 'topk', name: 'top-k', exchange: { method: 'topk', ratio: SHARE } },
  { id: 'qsgd', name: 'QSGD', exchange: A2SGD_QSGD },
] as const;

export const A2SGD_METHODS = [DENSE, ...COMPRESSORS] as const;
export type MethodId = (typeof A2SGD_METHODS)[number]['id'];

export const nameOf = (method: MethodId): string =>
  A2SGD_METHODS.find(({ id }) => id === method)!.name;

const OURS = 'a2sgd';

/** Readings of what is measured of drifting replicas: the value of a run, and its name. */
const READINGS = [
  { value: 'replicas', name: 'the workers’ own weights' },
  { value: 'averaged', name: 'their average' },
] as const;
export type Reading = (typeof READINGS)[number]['value'];

/**
 * A2SGD ends closer to dense SGD than each other method.
 * @param distances of a method behind dense SGD, by seed
 * @param least the smallest difference of distances that counts
 */
export const closerThanOthers = (
  distances: (method: MethodId, reading: Reading) => readonly number[],
  least: number,
): readonly Part[] =>
  COMPRESSORS.filter(({ id }) => id !== OURS).map(({ id, name }) =>
    claimByReadings(
      `A2SGD ends closer to dense SGD than ${name}`,
      ...READINGS.map((reading) =>
        named(
          reading.name,
          exceeds(
            distances(id, reading.value),
            distances(OURS, reading.value),
            least,
            formatPercent,
          ),
        ),
      ),
    ),
  );

/** A sentence of such rules. */
export const READINGS_RULE =
  'A2SGD’s workers end with weights of their own, and the text does not say of which the measure is: each part holds if it does ' +
  'by the workers’ own weights and by their average, and fails only if it does by both.';

/** A difference from the paper. */
export const AVERAGED_WEIGHTS =
  'A2SGD’s replicas drift apart, and a run’s final model has the average of their weights. The paper says that “one more iteration is performed to synchronize the model across all workers”, but its algorithm averages the last gradient alone (lines 9 and 10), so its workers’ weights stay different. Both are judged: the workers’ own measure, each on its share of the test set, and that of the average.';

/** Metric of the ranks’ own replicas, before their weights are averaged; that of the final model if none drifted. */
export const ownMetric = (records: readonly RunRecord[]): number | undefined => {
  const { metric, replicaMetric } = doneOf(records);
  return replicaMetric ?? metric;
};

export const A2SGD_QSGD_SETTING: Setting = {
  text: 'QSGD with four levels and one ℓ₂ norm for each tensor.',
  because:
    'Appendix A.2: “All QSGD results are evaluated using quantization level 4.” Table 2: “2.8n + 32” bits, so one scale of 32 bits; section 4.1 points to the code of reference 42 (epfml/sparsifiedSGD, qsgd.py), which computes one ℓ₂ norm of a gradient and has no buckets.',
};

export const A2SGD_SHARE_SETTING: Setting = {
  text: 'Top-k and Gaussian-k at 0.1 %.',
  because:
    'Appendix A.2: “Threshold for TopK and GaussianK is 0.001d in all the experiments.”',
};
