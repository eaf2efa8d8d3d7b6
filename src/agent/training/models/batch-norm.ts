/**
 * Batch normalisation (Ioffe and Szegedy, 2015) over all but the last axis. In training a
 * channel is normalised by its mean and variance in the batch, and these are given out as
 * statistics. An evaluation normalises by those of many batches
 * (docs/decisions/043-batch-norm.md).
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { ModelStatistic, ModelTensor } from './model.ts';

/** Number added to the variance, as PyTorch does. */
const EPSILON = 1e-5;

/** Scale and shift, which are trained. */
export function normTensors(name: string, channels: number): readonly ModelTensor[] {
  return [
    { name: `${name}.scale`, shape: [channels], initialize: 'ones' },
    { name: `${name}.shift`, shape: [channels], initialize: 'zeros' },
  ];
}

export function normStatistics(
  name: string,
  channels: number,
): readonly ModelStatistic[] {
  return [
    { name: `${name}.mean`, shape: [channels] },
    { name: `${name}.variance`, shape: [channels], around: `${name}.mean` },
  ];
}

/** The norms of one pass through a model, in their order. */
export class BatchNorms {
  readonly #jax: Jax;
  readonly #given: readonly JaxArray[] | undefined;
  /** Statistics of the batch, two for each norm; empty in an evaluation. */
  readonly statistics: JaxArray[] = [];
  #next = 0;

  /** @param given the statistics to normalise by; default: the batch's own */
  constructor(jax: Jax, given: readonly JaxArray[] | undefined) {
    this.#jax = jax;
    this.#given = given;
  }

  /** Takes ownership of its arguments. */
  normalize(values: JaxArray, scale: JaxArray, shift: JaxArray): JaxArray {
    const { lax, numpy } = this.#jax;
    let variance: JaxArray;
    let centred: JaxArray;
    if (this.#given === undefined) {
      // Sums of what lies far from 0 are rough: all is taken from the first element.
      const first = lax.stopGradient(firstOfChannels(values.ref));
      const near = values.sub(first.ref);
      const ofNear = channelMeans(near.ref);
      const mean = first.add(ofNear.ref);
      centred = near.sub(ofNear);
      variance = channelMeans(numpy.square(centred.ref));
      this.statistics.push(mean, variance.ref);
    } else {
      const mean = this.#given[this.#next++]!;
      variance = this.#given[this.#next++]!;
      centred = values.sub(mean);
    }
    const factor = scale.div(numpy.sqrt(variance.add(EPSILON)));
    return centred.mul(factor).add(shift);
  }
}

const firstOfChannels = (values: JaxArray): JaxArray =>
  values.reshape([-1, values.shape.at(-1)!]).slice(0);

/** Means over all but the last axis: of samples, and then of the batch, so that no sum gets long. */
function channelMeans(values: JaxArray): JaxArray {
  const within = values.shape.slice(2).map((_, axis) => axis + 1);
  const ofSamples = within.length === 0 ? values : values.mean(within);
  return ofSamples.mean(0);
}
