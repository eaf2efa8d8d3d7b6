/**
 * Selections from stretches of a vector on a GPU, each by its own threshold. Entries are
 * counted first, so that each stretch has its position in the stream before it is written:
 * one round trip for all that are counted at once.
 */
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Stretch, StretchSelector, Threshold } from '../selection.ts';
import { GpuEntries, type EntryPlace } from './gpu-entries.ts';

export class GpuStretches implements StretchSelector<GpuVector>, Disposable {
  readonly capacity: number;
  readonly #place: EntryPlace;
  readonly #selection: DeviceSelection;
  readonly #stretches: readonly Stretch[];
  readonly #thresholds: number[];
  readonly #counts: number[];
  #parts: readonly GpuVector[] = [];

  /** Takes over `selection`. */
  constructor(
    place: EntryPlace,
    selection: DeviceSelection,
    stretches: readonly Stretch[],
  ) {
    this.capacity = mostOf(stretches);
    this.#place = place;
    this.#selection = selection;
    this.#stretches = stretches;
    this.#thresholds = stretches.map(() => NaN);
    this.#counts = stretches.map(() => 0);
  }

  begin(x: GpuVector): void {
    this.#parts = this.#stretches.map(({ start, length }) => sliceOf(x, start, length));
  }

  async count(questions: readonly Threshold[]): Promise<readonly number[]> {
    const counts = await this.#selection.countAtLeast(
      questions.map(({ stretch, threshold }) => ({
        x: this.#parts[stretch]!,
        threshold,
      })),
    );
    questions.forEach(({ stretch, threshold }, i) => {
      this.#thresholds[stretch] = threshold;
      this.#counts[stretch] = counts[i]!;
    });
    return counts;
  }

  kthMagnitudes(
    questions: readonly { readonly stretch: number; readonly k: number }[],
  ): Promise<readonly number[]> {
    return this.#selection.kthMagnitudes(
      questions.map(({ stretch, k }) => ({ x: this.#parts[stretch]!, k })),
    );
  }

  take(): GpuEntries {
    let at = 0;
    for (const [stretch, { most, start }] of this.#stretches.entries()) {
      const taken = Math.min(this.#counts[stretch]!, most);
      const lower = this.#thresholds[stretch]!;
      const place = { at, first: start };
      this.#selection.write(this.#parts[stretch]!, { lower }, true, place, taken);
      at += taken;
    }
    return new GpuEntries(this.#place, this.#selection.stream(at));
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
  }
}

/** Most entries taken. */
export const mostOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { most }) => sum + most, 0);
