/**
 * A copy of the residual in the arena, by which an exchange can be taken back.
 *
 * Cost: a vector of the gradient's length, and a pass over the residual in every exchange.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { FlatRange } from '../plan/residual-transition.ts';
import type { ArenaSiteOptions } from './arena-site.ts';
import type { SiteUndo } from './gradient-site.ts';
import type { ResidualMemory } from './residual-memory.ts';
import { rangeOf } from './flat-range.ts';

export class ArenaUndo implements SiteUndo {
  readonly #options: ArenaSiteOptions;
  readonly #residual: ResidualMemory<Region & Vector>;
  #copy: (Region & Vector) | undefined;

  constructor(options: ArenaSiteOptions, residual: ResidualMemory<Region & Vector>) {
    this.#options = options;
    this.#residual = residual;
  }

  remember(ranges?: readonly FlatRange[]): void {
    const { arena, clock, kernels } = this.#options;
    const { kept } = this.#residual;
    if (kept === undefined) {
      this[Symbol.dispose]();
      return;
    }
    const copy = (this.#copy ??= arena.allocateVector(kept.length));
    clock.measure('compress', () => {
      if (ranges === undefined) kernels.copy(copy, kept);
      for (const range of ranges ?? []) {
        kernels.copy(rangeOf(copy, range), rangeOf(kept, range));
      }
    });
  }

  recall(ranges: readonly FlatRange[]): void {
    const { kept } = this.#residual;
    if (kept === undefined || this.#copy === undefined) return;
    for (const range of ranges) {
      this.#options.kernels.copy(rangeOf(kept, range), rangeOf(this.#copy, range));
    }
  }

  blank(ranges: readonly FlatRange[]): void {
    const { gradient, kernels } = this.#options;
    for (const range of ranges) kernels.fill(rangeOf(gradient, range), 0);
  }

  [Symbol.dispose](): void {
    if (this.#copy !== undefined) this.#options.arena.release(this.#copy);
    this.#copy = undefined;
  }
}
