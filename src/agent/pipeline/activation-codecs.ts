/** The methods by which activations pass between stages, by id. */
import type { ActivationPlan } from '../../shared/plan/activation-plan.ts';
import {
  wholeValues,
  type ActivationCodec,
  type CodecOptions,
} from './activation-codec.ts';
import { dctMp } from './dct-mp.ts';
import { besideSkip } from './beside-skip.ts';
import { gaussianSketch } from './gaussian-sketch.ts';
import { topkBackward } from './topk-backward.ts';

const CODECS: Readonly<
  Record<ActivationPlan['method'], (options: CodecOptions) => ActivationCodec>
> = {
  none: (options) => ({
    forward: wholeValues(options),
    backward: wholeValues(options),
    kept: [],
    [Symbol.dispose]() {
      // It has no memory in the arena.
    },
  }),
  'dct-mp': dctMp,
  'gaussian-sketch': gaussianSketch,
  'topk-backward': topkBackward,
};

/** @param plan undefined if everything is sent */
export function openCodec(
  plan: ActivationPlan | undefined,
  options: Omit<CodecOptions, 'sparsity'>,
): ActivationCodec {
  const { method = 'none', sparsity = 0 } = plan ?? {};
  const open = CODECS[method];
  return method === 'none'
    ? open({ ...options, sparsity })
    : besideSkip(open, { ...options, sparsity });
}
