/** A copy of a residual outside of the arena, by which an exchange can be taken back. */
import { outsideVector } from '../memory/outside-memory.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { FlatRange } from '../plan/residual-transition.ts';
import type { SiteUndo } from './gradient-site.ts';
import type { ResidualMemory } from './residual-memory.ts';

interface WindowUndoOptions {
  readonly clock: PhaseClock;
  readonly gradient: Float32Array;
  readonly residual: ResidualMemory<Float32Array>;
}

export class WindowUndo implements SiteUndo {
  readonly #options: WindowUndoOptions;
  #copy: Float32Array | undefined;

  constructor(options: WindowUndoOptions) {
    this.#options = options;
  }

  remember(ranges?: readonly FlatRange[]): void {
    const { clock, residual } = this.#options;
    const { kept } = residual;
    if (kept === undefined) {
      this[Symbol.dispose]();
      return;
    }
    const copy = (this.#copy ??= outsideVector(kept.length));
    clock.measure('compress', () => {
      if (ranges === undefined) copy.set(kept);
      for (const { length, start } of ranges ?? []) {
        copy.set(kept.subarray(start, start + length), start);
      }
    });
  }

  recall(ranges: readonly FlatRange[]): void {
    const { kept } = this.#options.residual;
    if (kept === undefined || this.#copy === undefined) return;
    for (const { length, start } of ranges) {
      kept.set(this.#copy.subarray(start, start + length), start);
    }
  }

  blank(ranges: readonly FlatRange[]): void {
    for (const { length, start } of ranges) {
      this.#options.gradient.fill(0, start, start + length);
    }
  }

  [Symbol.dispose](): void {
    this.#copy = undefined;
  }
}
