/**
 * The expected length of a stream of Elias ω codes before there is a gradient, for
 * Gaussian elements of any deviation, since levels are relative to a run's scale.
 * Within a few per cent of real streams of such elements.
 *
 * Cost: about 200 levels are evaluated, for any n.
 */
import {
  omegaLength,
  packedBytes,
  type EliasForm,
  type Quantizer,
  type ScaleKind,
} from '../kernels/quantization.ts';
import { normalQuantile } from './normal-quantile.ts';
import { exp, power } from '../../shared/numbers/portable-math.ts';

/** Representative magnitudes, equally likely. */
const SAMPLES = 200;
/** The largest of d magnitudes is on average where a tail of this share of 1/d begins. */
const MEAN_OF_LARGEST = exp(-0.5772);

export interface EliasStream extends Quantizer {
  readonly scale: ScaleKind;
  readonly form: EliasForm;
}

export function expectedEliasBytes(n: number, stream: EliasStream): number {
  const levels = likelyLevels(n, stream);
  const dense = 1 + n * denseBits(levels);
  const sparse = 1 + sparseBits(n, levels);
  const { form } = stream;
  const bits =
    form === 'dense' ? dense : form === 'sparse' ? sparse : Math.min(dense, sparse);
  return packedBytes(Math.round(bits), 1);
}

interface Likely {
  readonly level: number;
  readonly probability: number;
}

/** The two possible levels of an element, for each of the sampled magnitudes. */
function likelyLevels(
  n: number,
  { levels, runLength, scale }: EliasStream,
): readonly Likely[] {
  const run = Math.max(1, Math.min(n, runLength));
  const unit =
    scale === 'l2' ? Math.sqrt(run) : normalQuantile(MEAN_OF_LARGEST / (2 * run));
  return Array.from({ length: SAMPLES }, (_, sample) => {
    const magnitude = normalQuantile((sample + 0.5) / (2 * SAMPLES));
    const y = Math.min(levels, (magnitude * levels) / unit);
    const level = Math.floor(y);
    const up = y - level;
    return [
      { level, probability: (1 - up) / SAMPLES },
      { level: level + 1, probability: up / SAMPLES },
    ];
  }).flat();
}

/** Bits of an element in the dense form. */
const denseBits = (likely: readonly Likely[]): number =>
  mean(likely, (level) => omegaLength(level + 1) + (level > 0 ? 1 : 0));

/** Bits of n elements in the sparse form: gap, sign and level of each non-zero one. */
function sparseBits(n: number, likely: readonly Likely[]): number {
  const share = mean(likely, (level) => (level > 0 ? 1 : 0));
  const ofLevels = mean(likely, (level) => (level > 0 ? 1 + omegaLength(level) : 0));
  return n * ofLevels + (n * share + 1) * gapBits(share, n);
}

/** Bits of the ω code of a geometrically distributed gap of at most n + 1. */
function gapBits(share: number, n: number): number {
  let bits = 0;
  let beyond = 1;
  for (let gap = 1; beyond > 0; gap *= 2) {
    const next = 2 * gap > n ? 0 : power(1 - share, 2 * gap - 1);
    bits += (beyond - next) * omegaLength(gap);
    beyond = next;
  }
  return bits;
}

const mean = (likely: readonly Likely[], of: (level: number) => number): number =>
  likely.reduce((sum, { level, probability }) => sum + probability * of(level), 0);
