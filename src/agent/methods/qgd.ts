/**
 * Quantised gradient descent: for each tensor, the fewest of its largest elements whose
 * magnitudes add up to its norm ‖v‖₂, at most ⌈√n⌉, each sent as its sign and the norm.
 * Biased and without a residual: it is meant for the gradient of all samples on one
 * machine, where it keeps the linear convergence of gradient descent. One pass for the
 * norm, one that selects ⌈√n⌉ entries, and a sort of those.
 *
 * A section of n elements, in a payload as of `sectioned-compressor.ts`, is
 *
 *     norm     f32, finite, ≥ 0
 *     count    u32
 *     entries  count × u32, ascending: the index, and in bit 31 whether it is < 0
 *
 * Source: QSGD (Alistarh et al., NIPS 2017), appendix F. Its bound of √n·(log₂n + O(1)) bits
 * takes an entropy code for the indices; here each has 32 bits.
 */
import { z } from 'zod';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import { longestCoded, type HostCoding } from '../work/sections.ts';
import { estimated } from './expected-messages.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import { minElements } from './policy/small-tensors.ts';
import {
  SectionedCompressor,
  sectionsMessage,
  sectionsOf,
  type MeasuredSection,
  type SectionCodec,
} from './sectioned-compressor.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { WARM_UP } from './policy/schedule.ts';
import { log } from '../../shared/numbers/portable-math.ts';

const parameters = z.strictObject({ minElements, ...warmUpParameters });
type Parameters = z.infer<typeof parameters>;

const HEAD_BYTES = 8;
const NEGATIVE = 2 ** 31;
const LARGEST_F32 = (2 - 2 ** -23) * 2 ** 127;

export const qgd: MethodDefinition<typeof parameters> = {
  id: 'qgd',
  title: 'Quantised gradient descent',
  summary:
    'The signs of the largest elements, as few as add up to the tensor’s norm, and the norm.',
  source: 'QSGD (Alistarh et al., NIPS 2017), appendix F',
  suits:
    'Very slow links and small learning rates: it sends about √N signs, and is noisy.',
  parameters,
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'none',
  replicas: 'identical',
  messages: (given, bucket) => [
    estimated(
      sectionsMessage(given, bucket, (n) => HEAD_BYTES + 4 * expectedEntries(n)),
    ),
  ],
  create: (context) =>
    withWarmUp(
      new SectionedCompressor(qgd.id, context, new NormCodec(context)),
      context,
    ),
};

/** No vector needs more: the √n largest of n magnitudes add up to at least ‖v‖₂. */
const mostEntries = (n: number): number => Math.min(n, Math.ceil(Math.sqrt(n)));

/**
 * Estimates the entries of Gaussian elements. In units of the deviation, those beyond z add up to
 * 2·n·φ(z) and the norm is √n. So φ(z) = 1/(2√n), and n·P(|x| > z) entries are beyond.
 */
function expectedEntries(n: number): number {
  const most = mostEntries(n);
  const squared = -2 * log(Math.sqrt(2 * Math.PI) / (2 * Math.sqrt(n)));
  if (!(squared > 0)) return most;
  const z = Math.sqrt(squared);
  // Mills's ratio by a continued fraction's first terms (Abramowitz and Stegun, 26.2.14).
  const beyond = 1 / (2 * Math.sqrt(n)) / (z + 1 / (z + 2 / (z + 3 / (z + 4 / z))));
  return Math.min(most, Math.max(1, Math.round(2 * n * beyond)));
}

class NormCodec<V> implements SectionCodec {
  readonly coding: HostCoding;
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  /** The ⌈√n⌉ largest entries of a section. */
  readonly #largest: Region;
  /** Received entries with their values. */
  readonly #received: Region;

  constructor(context: CompressorContext<Parameters, V>) {
    const { arena, kernels } = context.work;
    const bytes = sparseBytes(mostEntries(longestCoded(sectionsOf(context))));
    this.#arena = arena;
    this.#kernels = kernels;
    this.#largest = context.work.region(bytes);
    this.#received = context.work.region(bytes);
    this.coding = {
      kind: 'host',
      gives: 'entries',
      capacity: (n) => HEAD_BYTES + 4 * mostEntries(n),
      encode: (x, out) => this.#encode(x, out),
    };
  }

  measure(data: Region, n: number): MeasuredSection {
    const arena = this.#arena;
    requireLength(data, HEAD_BYTES);
    const norm = arena.f32({ offset: data.offset, length: 1 })[0]!;
    if (!(Number.isFinite(norm) && norm >= 0)) {
      throw payloadInvalid(qgd.id, `a norm is ${norm}`);
    }
    const count = arena.u32(data.offset + 4, 1)[0]!;
    const most = mostEntries(n);
    if (count > most) {
      throw payloadInvalid(
        qgd.id,
        `it has ${count} entries; at most ${most} are possible`,
      );
    }
    const bytes = HEAD_BYTES + 4 * count;
    requireLength(data, bytes);
    const entries = arena.u32(data.offset + HEAD_BYTES, count);
    const stream = { offset: this.#received.offset, count };
    const indices = arena.u32(stream.offset, count);
    const values = arena.f32({ offset: stream.offset + 4 * count, length: count });
    let before = -1;
    for (let at = 0; at < count; at++) {
      const entry = entries[at]!;
      const index = entry % NEGATIVE;
      if (index <= before || index >= n) {
        throw payloadInvalid(
          qgd.id,
          `index ${index} (of ${n}) does not follow index ${before}`,
        );
      }
      before = index;
      indices[at] = index;
      values[at] = entry < NEGATIVE ? norm : -norm;
    }
    return { kind: 'entries', bytes, stream };
  }

  #encode(x: Vector, out: Region): number {
    const arena = this.#arena;
    const norm = normOf(arena.f32(x));
    const most = mostEntries(x.length);
    const { offset, count } = this.#kernels.sparsification.selectTopK(
      x,
      most,
      this.#largest,
    );
    const indices = arena.u32(offset, count);
    const values = arena.f32({ offset: offset + 4 * count, length: count });
    const sent = fewestReaching(norm, values);
    arena.f32({ offset: out.offset, length: 1 })[0] = Math.min(norm, LARGEST_F32);
    const [place, entries] = [arena.u32(out.offset + 4, 1), sent.length];
    place[0] = entries;
    const written = arena.u32(out.offset + HEAD_BYTES, entries);
    for (const [at, which] of sent.entries()) {
      written[at] = indices[which]! + (values[which]! < 0 ? NEGATIVE : 0);
    }
    return HEAD_BYTES + 4 * entries;
  }
}

function requireLength(data: Region, bytes: number): void {
  if (data.bytes >= bytes) return;
  throw payloadInvalid(qgd.id, `it ends ${bytes - data.bytes} bytes early`);
}

/** Computes ‖v‖₂, summed in order in f64, so that every backend decides alike. */
function normOf(values: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += values[i]! * values[i]!;
  return Math.sqrt(squares);
}

/** Positions, ascending, of the fewest values whose magnitudes reach the norm. */
function fewestReaching(norm: number, values: Float32Array): Uint32Array {
  const order = Uint32Array.from(values, (_, i) => i).sort(
    (i, j) => Math.abs(values[j]!) - Math.abs(values[i]!) || i - j,
  );
  let [reached, count] = [0, 0];
  while (count < order.length && reached < norm) {
    reached += Math.abs(values[order[count++]!]!);
  }
  return order.subarray(0, count).sort();
}
