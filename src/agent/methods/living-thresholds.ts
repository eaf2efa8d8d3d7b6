/**
 * The thresholds of DCT, one for each tensor, and the rule for renewing them: every
 * `lifeSpan` iterations, and early when the number sent leaves the band [k/band, k·band].
 * This class only decides; its caller counts and selects entries.
 *
 * Source: "Training recommender systems at scale" (Gupta et al., 2021), algorithm 1.
 */
import type { KeptState, TensorSlice, ThresholdState } from './method.ts';
import { entriesSent } from './policy/ratio-schedule.ts';
import { stateIn } from './saved-state.ts';

export interface LivingParameters {
  /** Share of a tensor's elements that is sent after a refresh. */
  readonly ratio: number;
  readonly lifeSpan: number;
  readonly band: number;
}

export interface ThresholdLayer extends TensorSlice {
  readonly k: number;
  /** The largest number that the band allows. */
  readonly most: number;
}

/** The smallest threshold: zeros need never be sent. */
const LEAST = 2 ** -149;
/** No selection has been made yet. */
const NEVER = 0xffff_ffff;
const METHOD = 'dct';

export class LivingThresholds {
  /** The number of tensors that have elements. */
  readonly layers: readonly ThresholdLayer[];
  /** The thresholds and the phase of their life span. */
  readonly state: KeptState;
  readonly #parameters: LivingParameters;
  /** τ of each layer. */
  readonly #thresholds: Float32Array;
  /** The iteration of the first refresh: the phase of the life span. */
  readonly #origin = Uint32Array.of(NEVER);
  #refreshes = 0;
  #iteration = 0;
  /** Read-only thresholds by layer; NaN where unknown. */
  readonly #selected: Float64Array;
  readonly #found: Float64Array;
  readonly #change: Float64Array;

  constructor(tensors: readonly TensorSlice[], parameters: LivingParameters) {
    const { band, ratio } = parameters;
    this.#parameters = parameters;
    this.layers = tensors
      .filter(({ length }) => length > 0)
      .map((tensor) => {
        const k = entriesSent(tensor.length, { ratio });
        return { ...tensor, k, most: Math.min(tensor.length, Math.floor(band * k)) };
      });
    const n = this.layers.length;
    this.#thresholds = new Float32Array(n);
    this.#selected = new Float64Array(n).fill(NaN);
    this.#found = new Float64Array(n).fill(NaN);
    this.#change = new Float64Array(n).fill(NaN);
    this.state = stateIn(METHOD, this.#origin, this.#thresholds);
  }

  /** The number of thresholds renewed since `begin`. */
  get refreshes(): number {
    return this.#refreshes;
  }

  /** Begins an iteration; returns whether every threshold's life has ended. */
  begin(iteration: number): boolean {
    if (this.#origin[0] === NEVER) this.#origin[0] = iteration;
    this.#refreshes = 0;
    this.#iteration = iteration;
    return (iteration - this.#origin[0]!) % this.#parameters.lifeSpan === 0;
  }

  /** τ */
  at(layer: number): number {
    return this.#thresholds[layer]!;
  }

  /**
   * Whether this count is in the band, or even the lowest threshold could not send
   * more.
   */
  holds(layer: number, count: number): boolean {
    const { k, most } = this.layers[layer]!;
    const enough = count * this.#parameters.band >= k;
    return count <= most && (enough || this.#thresholds[layer] === LEAST);
  }

  /** @param magnitude the k-th largest of the layer */
  refresh(layer: number, magnitude: number): void {
    const before = this.#thresholds[layer]!;
    const found = Math.max(magnitude, LEAST);
    this.#change[layer] = before === 0 ? NaN : (found - before) / before;
    this.#found[layer] = this.#iteration;
    this.#thresholds[layer] = found;
    this.#refreshes++;
  }

  /** Notes how many entries of a layer are sent in this iteration. */
  sends(layer: number, count: number): void {
    this.#selected[layer] = count;
  }

  /** Describes the thresholds after an exchange. */
  states(): readonly ThresholdState[] {
    return this.layers.map(({ k, name }, layer) => ({
      tensor: name,
      threshold: this.#thresholds[layer]!,
      selected: this.#selected[layer]!,
      wanted: k,
      age: known(this.#iteration - this.#found[layer]!),
      change: known(this.#change[layer]!),
    }));
  }
}

const known = (value: number): number | undefined =>
  Number.isNaN(value) ? undefined : value;
