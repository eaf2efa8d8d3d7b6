/** Entries with quantised values, by the CPU's kernels. */
import type { Kernels } from '../../kernels/kernels.ts';
import type { Quantizer } from '../../kernels/quantization.ts';
import type { RandomStream } from '../../kernels/random.ts';
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import { sparseBytes } from '../../memory/entries.ts';
import {
  quantizedBytes,
  quantizedFields,
  type EntryCoder,
} from '../quantized-entries.ts';
import type { Entries } from '../selection.ts';
import { ArenaEntries } from './arena-entries.ts';
import type { CodingWork } from './arena-sections.ts';

export class ArenaEntryCoder implements EntryCoder<Vector> {
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #quantizer: Quantizer;
  readonly #region: Region;
  /** Received entries with their decoded values. */
  readonly #received: Region;

  constructor(
    work: CodingWork & { readonly arena: Arena },
    capacity: number,
    quantizer: Quantizer,
  ) {
    this.#arena = work.arena;
    this.#kernels = work.kernels;
    this.#quantizer = quantizer;
    this.#region = work.region(quantizedBytes(capacity, quantizer));
    this.#received = work.region(sparseBytes(capacity));
  }

  encode(entries: Entries<Vector>, noise: RandomStream): Region {
    if (!(entries instanceof ArenaEntries)) {
      throw new Error('internal: entries that are not in the arena');
    }
    const { count } = entries;
    const { offset } = this.#region;
    const quantizer = this.#quantizer;
    const { quantization } = this.#kernels;
    const { indices, scales, codes } = quantizedFields(offset, count, quantizer);
    const values = entries.values();
    this.#arena.u32(offset, 1)[0] = count;
    this.#kernels.copy(indices, { offset: entries.indices().offset, length: count });
    quantization.quantize(values, quantizer, 'max', noise, scales, codes);
    quantization.dequantize(values, quantizer, scales, codes, false);
    return { offset, bytes: quantizedBytes(count, quantizer) };
  }

  addTo(out: Vector, data: Region, count: number): void {
    const quantizer = this.#quantizer;
    const { offset } = this.#received;
    const parts = quantizedFields(data.offset, count, quantizer);
    const values = { offset: offset + 4 * count, length: count };
    this.#kernels.copy({ offset, length: count }, parts.indices);
    const { scales, codes } = parts;
    this.#kernels.quantization.dequantize(values, quantizer, scales, codes, false);
    this.#kernels.scatterAdd(out, { offset, count }, 1);
  }
}
