/** One collective on a world, from plain vectors to plain vectors, with an oracle. */
import type { CollectiveDefinition } from '../../../src/agent/collectives/collective.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import type { Combined, Payload } from '../../../src/agent/compression/method.ts';
import type { Arena } from '../../../src/agent/kernels/arena.ts';
import {
  ABSENT_BITS,
  type ReduceOperation,
} from '../../../src/agent/kernels/reduction.ts';

export interface Outcome {
  /** Absent entries are 0. */
  readonly sum: Float32Array;
  /** Undefined where absent; under a sum, dense results have no absent entries. */
  readonly entries: (number | undefined)[];
  readonly form: Combined['form'];
  /** Entries of a sparse result. */
  readonly count: number | undefined;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sentMessages: number;
}

/** Zeros of the inputs are absent entries where the payload is sparse. */
export function runCollective(
  collective: CollectiveDefinition,
  communicators: readonly TransportCommunicator[],
  kind: 'dense' | 'sparse',
  inputs: readonly Float32Array[],
  operation: ReduceOperation = 'sum',
): Promise<Outcome[]> {
  return Promise.all(
    communicators.map(async (communicator, rank) => {
      const { arena } = communicator;
      const input = inputs[rank]!;
      const payload = payloadOf(arena, kind, input, operation);
      communicator.begin({ epoch: 0, operation: collective.code, dtype: 1 });
      try {
        const combined = await collective.run(communicator, payload);
        const entries = entriesOf(arena, combined, input.length, operation);
        return {
          sum: Float32Array.from(entries, (value) => value ?? 0),
          entries,
          form: combined.form,
          count: combined.form === 'sparse' ? combined.count : undefined,
          sentBytes: communicator.sentBytes,
          receivedBytes: communicator.receivedBytes,
          sentMessages: communicator.sentMessages,
        };
      } finally {
        // The memory is the caller's again: whatever becomes of it must hurt nobody.
        arena.u8(payload.data.offset, payload.data.bytes).fill(0xff);
        arena.release(payload.data);
      }
    }),
  );
}

export function payloadOf(
  arena: Arena,
  kind: 'dense' | 'sparse',
  values: Float32Array,
  operation: ReduceOperation = 'sum',
): Payload {
  const { length } = values;
  if (kind === 'dense') {
    const data = arena.allocate(4 * length);
    arena.f32({ offset: data.offset, length }).set(values);
    if (operation !== 'sum') {
      const bits = arena.u32(data.offset, length);
      for (const [index, value] of values.entries()) {
        if (value === 0) bits[index] = ABSENT_BITS;
      }
    }
    return { kind, length, data };
  }
  const indices = [...values.keys()].filter((index) => values[index] !== 0);
  const count = indices.length;
  const data = arena.allocate(8 * count);
  arena.u32(data.offset, count).set(indices);
  arena
    .f32({ offset: data.offset + 4 * count, length: count })
    .set(indices.map((index) => values[index]!));
  return { kind, length, count, data };
}

export function payloadBytes(kind: 'dense' | 'sparse', values: Float32Array): number {
  if (kind === 'dense') return 4 * values.length;
  return 8 * values.filter((value) => value !== 0).length;
}

function entriesOf(
  arena: Arena,
  combined: Combined,
  length: number,
  operation: ReduceOperation,
): (number | undefined)[] {
  if (combined.form === 'gathered') throw new Error('a reduction is not gathered');
  const { offset } = combined.data;
  if (combined.form === 'dense') {
    const bits = arena.u32(offset, length);
    return Array.from(arena.f32({ offset, length }), (value, index) => {
      const absent = operation === 'sum' ? value === 0 : bits[index] === ABSENT_BITS;
      return absent ? undefined : value;
    });
  }
  const { count } = combined;
  const indices = arena.u32(offset, count);
  const values = arena.f32({ offset: offset + 4 * count, length: count });
  const out = Array.from({ length }, (): number | undefined => undefined);
  indices.forEach((index, place) => {
    if (place > 0 && index <= indices[place - 1]!) throw new Error('not ascending');
    out[index] = values[place]!;
  });
  return out;
}

/** The sum over ranks, the slow way; exact for integers. */
export function sumOf(inputs: readonly Float32Array[]): Float32Array {
  const [first] = inputs;
  return first!.map((_, index) =>
    inputs.reduce((sum, input) => sum + input[index]!, 0),
  );
}

/** Small integers, of which about `density` are not 0; every rank has its own. */
export function integers(rank: number, length: number, density = 1): Float32Array {
  const random = generator(1000 * rank + length);
  return Float32Array.from({ length }, () => {
    const value = Math.floor(random() * 201) - 100;
    return random() < density ? value : 0;
  });
}

/** Values of many magnitudes, in which the order of summation shows. */
export function floats(rank: number, length: number, density = 1): Float32Array {
  const random = generator(7 + 1000 * rank + length);
  return Float32Array.from({ length }, () => {
    const value = (random() - 0.5) * 10 ** (8 * random() - 4);
    return random() < density ? value : 0;
  });
}

/** mulberry32: reproducible, good enough for test data. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function sameBits(a: Float32Array, b: Float32Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  );
}
