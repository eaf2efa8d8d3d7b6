/** `topk` on the GPU: the k largest |p| of the bucket as a whole, or of each run of it. */
import { entriesPerRun } from '../../kernels/sparsification.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import { DeviceRuns } from '../../kernels/webgpu/device-runs.ts';
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from '../policy/ratio-schedule.ts';
import { valueQuantizer, type ValueParameters } from '../quantized-values.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import { FeedbackOnDevice, type SelectionOnDevice } from './device-feedback.ts';
import type { CreateOnDevice, DeviceContext } from './device-method.ts';
import { QuantizedFeedbackOnDevice } from './device-quantized-feedback.ts';

export interface TopKShape extends RatioSchedule {
  /** Entries of each run; 0: the ratio decides. */
  readonly k: number;
  /** Entries of a run; 0: all is one. */
  readonly bucket: number;
}

interface Parameters extends TopKShape, ValueParameters {
  readonly warmupIterations: number;
}

export const topkOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  return withDeviceWarmUp(typed, () => {
    const selection = TopKOnDevice.create(typed);
    if (selection === undefined) return undefined;
    const quantizer = valueQuantizer(typed.parameters);
    return quantizer === undefined
      ? new FeedbackOnDevice('topk', typed, selection)
      : new QuantizedFeedbackOnDevice('topk', typed, selection, quantizer);
  });
};

export class TopKOnDevice implements SelectionOnDevice {
  readonly capacity: number;
  readonly #context: DeviceContext<TopKShape>;
  readonly #selection: DeviceSelection;
  /** Default: the bucket is selected from as a whole. */
  readonly #runs: DeviceRuns | undefined;
  readonly #run: number;

  /** Undefined where a binding cannot hold the indices. */
  static create(context: DeviceContext<TopKShape>): TopKOnDevice | undefined {
    const { length, parameters } = context;
    const run = runOf(parameters, length);
    const most = countOf(parameters, length, run, largestRatio(parameters));
    return isBindable(context, most) ? new TopKOnDevice(context, run, most) : undefined;
  }

  private constructor(
    context: DeviceContext<TopKShape>,
    run: number,
    capacity: number,
  ) {
    const { device, length } = context;
    this.#context = context;
    this.#run = run;
    this.capacity = capacity;
    this.#selection = device.selection(length, this.capacity);
    if (run < length) this.#runs = new DeviceRuns(device.gpu, this.#selection, run);
  }

  select(p: GpuVector, iteration: number, clear: boolean): GpuStream {
    const { length, parameters } = this.#context;
    const ratio = ratioAt(parameters, iteration);
    const [k, tailK] = entriesOf(parameters, length, this.#run, ratio);
    if (this.#runs === undefined) return this.#selection.selectTopK(p, k, clear);
    const stream = this.#runs.select(p, k, tailK);
    if (clear) this.#context.device.elementwise.clearAt(p, stream);
    return stream;
  }

  /** Entries that are selected at an iteration. */
  count(iteration: number): number {
    const { length, parameters } = this.#context;
    return countOf(parameters, length, this.#run, ratioAt(parameters, iteration));
  }

  [Symbol.dispose](): void {
    this.#runs?.[Symbol.dispose]();
    this.#selection[Symbol.dispose]();
  }
}

/** Entries of a run: all of them, where the bucket is selected from as a whole. */
function runOf({ bucket }: TopKShape, length: number): number {
  return bucket > 0 ? Math.min(bucket, Math.max(1, length)) : Math.max(1, length);
}

/** Entries sent of a whole run, and of the shorter last one. */
function entriesOf(
  { k }: TopKShape,
  length: number,
  run: number,
  ratio: number,
): [number, number] {
  return [entriesSent(run, { ratio, k }), entriesSent(length % run, { ratio, k })];
}

function countOf(shape: TopKShape, length: number, run: number, ratio: number): number {
  return entriesPerRun(length, run, ...entriesOf(shape, length, run, ratio));
}
