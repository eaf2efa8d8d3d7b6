/**
 * The k entries of largest magnitude of each run of consecutive elements, on the GPU. Many
 * short runs are processed at once; runs longer than a workgroup's memory, one after the
 * other.
 */
import { entriesPerRun } from '../sparsification.ts';
import { LONGEST_RUN, runsTogether, selectFromRuns } from '../wgsl/runs.ts';
import type { GpuStream } from './device-elementwise.ts';
import type { DeviceSelection } from './device-selection.ts';
import type { GpuDevice } from './gpu-device.ts';
import { sliceOf, type BufferRange, type GpuVector } from './gpu-vector.ts';
import { WholeRuns } from './whole-runs.ts';

export class DeviceRuns implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #selection: DeviceSelection;
  readonly #run: number;
  readonly #runs: WholeRuns;

  /** Selects from runs of `run` elements, to the selection's stream. */
  constructor(gpu: GpuDevice, selection: DeviceSelection, run: number) {
    this.#gpu = gpu;
    this.#selection = selection;
    this.#run = run;
    this.#runs = new WholeRuns(gpu, Math.min(run, LONGEST_RUN));
  }

  /**
   * The entries with the largest |x| of each run, exactly min(k, run) of them, and
   * min(tailK, rest) of the shorter last run; ties by lower index; ascending. x must be
   * finite.
   */
  select(x: GpuVector, k: number, tailK: number): GpuStream {
    const run = this.#run;
    const n = x.length;
    const count = entriesPerRun(n, run, k, tailK);
    const whole = n - (n % run);
    const own = Math.min(k, run);
    const last = Math.min(tailK, n - whole);
    if (run > LONGEST_RUN) {
      for (let first = 0; first < n; first += run) {
        const length = Math.min(run, n - first);
        const place = { at: (first / run) * own, first };
        const slice = sliceOf(x, first, length);
        this.#selection.selectTopK(slice, length === run ? own : last, false, place);
      }
      return this.#selection.stream(count);
    }
    if (own > 0) {
      for (const { part, first } of this.#runs.of(sliceOf(x, 0, whole), run)) {
        this.#dispatch(part, run, own, first, (first / run) * own);
      }
    }
    if (last > 0) {
      const rest = sliceOf(x, whole, n - whole);
      for (const { part } of this.#runs.of(rest, rest.length)) {
        this.#dispatch(part, rest.length, last, whole, count - last);
      }
    }
    return this.#selection.stream(count);
  }

  [Symbol.dispose](): void {
    this.#runs[Symbol.dispose]();
  }

  /**
   * Selects from whole runs that begin with entry `first`, and writes from pair `at` on.
   */
  #dispatch(x: BufferRange, run: number, k: number, first: number, at: number): void {
    const runs = x.length / run;
    const together = runsTogether(run);
    const { indices, values } = this.#selection.stream(0);
    const place = { offset: 4 * at, length: runs * k };
    this.#gpu.commands.dispatch(
      selectFromRuns,
      Math.ceil(runs / together),
      {
        x,
        indices: { buffer: indices, ...place },
        values: { buffer: values, ...place },
      },
      { run, runs, together, k, first },
    );
  }
}
