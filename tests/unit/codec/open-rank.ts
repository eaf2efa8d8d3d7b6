/** Ranks alone for tests, with vectors for them. */
import {
  LoneRank,
  packRankState,
  type LoneRankOptions,
} from '../../../src/agent/engine.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';

export const LENGTH = 600;
export const vector = (iteration: number): Float32Array =>
  Float32Array.from(bellShaped(LENGTH, iteration + 1));

export const stateOf = async (rank: LoneRank): Promise<Uint8Array> =>
  packRankState({ provenance: rank.provenance(1), state: await rank.save() });

export function open(more: Partial<LoneRankOptions> & { method: string }): LoneRank {
  return new LoneRank({ shape: [LENGTH], ...more });
}
