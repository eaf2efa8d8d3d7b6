/**
 * δ/N of a plan's exchanges: the share of N elements at which a sparse stream turns dense,
 * or `auto`, the cheapest by the costs of the network (`cost-model/best-delta.ts`).
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.1.
 */
import { z } from 'zod';

/** The most for gradients, of f32: beyond it a stream would be longer than its elements. */
const MOST = 0.5;

export const deltaSettingSchema = z.union(
  [z.literal('auto'), z.number().gt(0).max(MOST)],
  { error: `it must be auto, or a number above 0 and at most ${MOST}` },
);

export type DeltaSetting = z.infer<typeof deltaSettingSchema>;

/** `dense at 20 %`, `dense at the cheapest δ` */
export const deltaText = (delta: DeltaSetting): string =>
  delta === 'auto'
    ? 'dense at the cheapest δ'
    : `dense at ${Number((100 * delta).toPrecision(3))} %`;
