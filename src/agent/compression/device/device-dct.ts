/**
 * `dct` on the GPU: entries that reach the living thresholds are counted first, so that
 * each tensor's have their place in the stream before they are written. One journey there
 * and back while thresholds live, two more where one is found anew.
 */
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { LivingThresholds, type LivingParameters } from '../living-thresholds.ts';
import type { ExchangeStatistics } from '../method.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import { FeedbackOnDevice, type SelectionOnDevice } from './device-feedback.ts';
import type { CreateOnDevice, DeviceContext } from './device-method.ts';

interface Parameters extends LivingParameters {
  readonly warmupIterations: number;
}

export const dctOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  return withDeviceWarmUp(typed, () => {
    const thresholds = new LivingThresholds(typed.tensors, typed.parameters);
    const capacity = thresholds.layers.reduce((sum, { most }) => sum + most, 0);
    if (!isBindable(typed, capacity)) return undefined;
    const selection = new ThresholdsOnDevice(typed, thresholds, capacity);
    return new FeedbackOnDevice('dct', typed, selection);
  });
};

class ThresholdsOnDevice implements SelectionOnDevice {
  readonly capacity: number;
  readonly #thresholds: LivingThresholds;
  readonly #selection: DeviceSelection;

  constructor(context: DeviceContext, thresholds: LivingThresholds, capacity: number) {
    this.capacity = capacity;
    this.#thresholds = thresholds;
    this.#selection = context.device.selection(context.length, capacity);
  }

  async select(p: GpuVector, iteration: number, clear: boolean): Promise<GpuStream> {
    const { layers } = this.#thresholds;
    const vectors = layers.map(({ start, length }) => sliceOf(p, start, length));
    const all = layers.map((_, layer) => layer);
    const due = this.#thresholds.begin(iteration);
    const counts = due ? [] : await this.#count(vectors, all);
    const ended = all.filter((i) => due || !this.#thresholds.holds(i, counts[i]!));
    if (ended.length > 0) {
      await this.#refresh(vectors, ended);
      const anew = await this.#count(vectors, ended);
      ended.forEach((layer, i) => (counts[layer] = anew[i]!));
    }
    let at = 0;
    for (const [layer, { most, start }] of layers.entries()) {
      const sent = Math.min(counts[layer]!, most);
      this.#thresholds.sends(layer, sent);
      const lower = this.#thresholds.at(layer);
      const place = { at, first: start };
      this.#selection.write(vectors[layer]!, { lower }, clear, place, sent);
      at += sent;
    }
    return this.#selection.stream(at);
  }

  statistics(): ExchangeStatistics {
    return {
      thresholdRefreshes: this.#thresholds.refreshes,
      thresholds: () => this.#thresholds.states(),
    };
  }

  save(): Uint8Array {
    return this.#thresholds.save();
  }

  restore(state: Uint8Array): void {
    this.#thresholds.restore(state);
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
  }

  async #count(
    vectors: readonly GpuVector[],
    layers: readonly number[],
  ): Promise<number[]> {
    const counts = await this.#selection.countAtLeast(
      layers.map((layer) => ({
        x: vectors[layer]!,
        threshold: this.#thresholds.at(layer),
      })),
    );
    return [...counts];
  }

  async #refresh(
    vectors: readonly GpuVector[],
    layers: readonly number[],
  ): Promise<void> {
    const magnitudes = await this.#selection.kthMagnitudes(
      layers.map((layer) => ({
        x: vectors[layer]!,
        k: this.#thresholds.layers[layer]!.k,
      })),
    );
    layers.forEach((layer, i) => {
      this.#thresholds.refresh(layer, magnitudes[i]!);
    });
  }
}
