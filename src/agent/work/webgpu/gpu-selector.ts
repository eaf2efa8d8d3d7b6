/** Selections on a GPU: written to a stream there, ascending. */
import { DeviceRuns } from '../../kernels/webgpu/device-runs.ts';
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Leave, Selector, ThresholdSearch, TieBounds } from '../selection.ts';
import { GpuEntries, GpuEntryRoom, type EntryPlace } from './gpu-entries.ts';

const START = { at: 0, first: 0 };

export class GpuSelector
  extends GpuEntryRoom
  implements Selector<GpuVector>, Disposable
{
  readonly #selection: DeviceSelection;
  /** Selections by entries of a run. */
  readonly #runs = new Map<number, DeviceRuns>();

  /** Takes over `selection`. */
  constructor(place: EntryPlace, selection: DeviceSelection, capacity: number) {
    super(place, capacity, () => selection.stream(0));
    this.#selection = selection;
  }

  topK(x: GpuVector, k: number, leave: Leave): GpuEntries {
    return this.#entries(this.#selection.selectTopK(x, k, leave === 'clear'));
  }

  topKPerRun(
    x: GpuVector,
    run: number,
    k: number,
    tailK: number,
    leave: Leave,
  ): GpuEntries {
    let runs = this.#runs.get(run);
    if (runs === undefined) {
      runs = new DeviceRuns(this.place.gpu, this.#selection, run);
      this.#runs.set(run, runs);
    }
    const entries = this.#entries(runs.select(x, k, tailK));
    if (leave === 'clear') entries.clearIn(x);
    return entries;
  }

  async reaching(x: GpuVector, threshold: number, leave: Leave): Promise<GpuEntries> {
    return this.#entries(
      await this.#selection.selectAtLeast(x, threshold, leave === 'clear'),
    );
  }

  /** Counts on the device, with one round trip for each new threshold. */
  search(x: GpuVector): ThresholdSearch<GpuVector> {
    const selection = this.#selection;
    // Uses x itself: it contains every candidate for a higher threshold.
    let last = { threshold: NaN, count: 0 };
    return {
      count: async (threshold) => {
        if (threshold === last.threshold) return last.count;
        const [count] = await selection.countAtLeast([{ x, threshold }]);
        last = { threshold, count: count! };
        return count!;
      },
      reaching: (threshold, count, leave) => {
        selection.write(x, { lower: threshold }, leave === 'clear', START, count);
        return this.#entries(selection.stream(count));
      },
      ties: ({ low, high, certain }: TieBounds, k, leave) => {
        const bounds = { lower: high, tie: low, ties: k - certain };
        selection.write(x, bounds, leave === 'clear', START, k);
        return this.#entries(selection.stream(k));
      },
    };
  }

  [Symbol.dispose](): void {
    for (const runs of this.#runs.values()) runs[Symbol.dispose]();
    this.#selection[Symbol.dispose]();
  }

  #entries(stream: GpuStream): GpuEntries {
    return new GpuEntries(this.place, stream);
  }
}
