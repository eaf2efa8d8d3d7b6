/**
 * Top-k of the gradient of activations with error feedback, a control that the paper found to
 * fail. Forward, everything passes. Backward, the k entries of largest magnitude of gradient
 * plus residual pass, with k = (1 − η) of all for a sparsity η. The rest stays for the same
 * position of the same micro-batch in the next iteration, which has other samples.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), appendix A.
 */
import { valuesSent } from '../../shared/plan/activation-plan.ts';
import { sparseBytes } from '../memory/entries.ts';
import {
  elements,
  wholeValues,
  type ActivationCodec,
  type CodecOptions,
} from './activation-codec.ts';

export function topkBackward(options: CodecOptions): ActivationCodec {
  const { arena, kernels, microBatches, shape, sparsity } = options;
  const length = elements(shape);
  const count = valuesSent(length, sparsity);
  const residuals = Array.from({ length: microBatches }, () => {
    const residual = arena.allocateVector(length);
    kernels.fill(residual, 0);
    return residual;
  });
  return {
    forward: wholeValues(options),
    backward: {
      payloadBytes: sparseBytes(count),
      encode(values, payload, { microBatch }) {
        const residual = residuals[microBatch]!;
        kernels.add(residual, values);
        const sent = kernels.sparsification.selectTopK(residual, count, payload);
        kernels.clearAt(residual, sent);
      },
      decode(payload, values) {
        kernels.fill(values, 0);
        kernels.scatterAdd(values, { offset: payload.offset, count }, 1);
      },
    },
    kept: residuals,
    [Symbol.dispose]() {
      for (const residual of residuals) arena.release(residual);
    },
  };
}
