/**
 * `gaussiank` on the GPU: the search of `threshold-search.ts`, its questions answered by
 * counting on the device, one journey there and back for each.
 */
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from '../policy/ratio-schedule.ts';
import {
  estimateThreshold,
  mostSelected,
  searchThreshold,
  type SearchResult,
} from '../threshold-search.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import { FeedbackOnDevice, type SelectionOnDevice } from './device-feedback.ts';
import type { CreateOnDevice, DeviceContext } from './device-method.ts';

interface Parameters extends RatioSchedule {
  readonly warmupIterations: number;
}

const START = { at: 0, first: 0 };

export const gaussiankOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const { length, parameters } = typed;
  const k = entriesSent(length, { ratio: largestRatio(parameters) });
  const capacity = mostSelected(k);
  if (!isBindable(typed, capacity)) return undefined;
  return withDeviceWarmUp(
    typed,
    () =>
      new FeedbackOnDevice('gaussiank', typed, new GaussianOnDevice(typed, capacity)),
  );
};

class GaussianOnDevice implements SelectionOnDevice {
  readonly capacity: number;
  readonly #context: DeviceContext<Parameters>;
  readonly #selection: DeviceSelection;

  constructor(context: DeviceContext<Parameters>, capacity: number) {
    this.capacity = capacity;
    this.#context = context;
    this.#selection = context.device.selection(context.length, capacity);
  }

  async select(p: GpuVector, iteration: number, clear: boolean): Promise<GpuStream> {
    const ratio = ratioAt(this.#context.parameters, iteration);
    const k = entriesSent(p.length, { ratio });
    const found = await this.#search(p, k, ratio);
    switch (found.kind) {
      case 'largest':
        return this.#selection.selectTopK(p, k, clear);
      case 'reaching':
        this.#selection.write(p, { lower: found.threshold }, clear, START, found.count);
        return this.#selection.stream(found.count);
      case 'ties': {
        const { low, high, certain } = found;
        const bounds = { lower: high, tie: low, ties: k - certain };
        this.#selection.write(p, bounds, clear, START, k);
        return this.#selection.stream(k);
      }
      default:
        return found satisfies never;
    }
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
  }

  async #search(p: GpuVector, k: number, ratio: number): Promise<SearchResult> {
    const [sums] = await this.#context.device.fixedSums.of([p]);
    const estimate = estimateThreshold(sums!, ratio);
    const search = searchThreshold(p.length, k, estimate);
    // Candidates are those of p: none that reaches a higher threshold is missing there.
    let last = { threshold: NaN, count: 0 };
    let step = search.next();
    while (step.done !== true) {
      const { threshold } = step.value;
      if (threshold !== last.threshold) {
        last = { threshold, count: await this.#count(p, threshold) };
      }
      step = search.next(last.count);
    }
    return step.value;
  }

  async #count(x: GpuVector, threshold: number): Promise<number> {
    const [count] = await this.#selection.countAtLeast([{ x, threshold }]);
    return count!;
  }
}
