/** One collective on a world, from plain vectors to plain vectors, with an oracle. */
import type {
  CollectiveDefinition,
  Quantization,
} from '../../../src/agent/collectives/collective.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import {
  sparseStreams,
  type Combined,
  type Payload,
} from '../../../src/agent/memory/payload.ts';
import type { Arena, Vector } from '../../../src/agent/memory/arena.ts';
import {
  ABSENT_BITS,
  type ReduceOperation,
} from '../../../src/agent/kernels/reduction.ts';
import type { ValueBytes } from '../../../src/agent/memory/value-type.ts';

/** A vector of f32 or of f64: it says itself which. */
export type Values = Float32Array | Float64Array;

export interface Outcome<V extends Values = Float32Array> {
  /** Absent entries are 0. */
  readonly sum: V;
  /** Undefined where absent; under a sum, dense results have no absent entries. */
  readonly entries: (number | undefined)[];
  readonly form: 'dense' | 'sparse';
  /** Entries of a sparse result. */
  readonly count: number | undefined;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sentMessages: number;
}

/** As a case of the tests has it, with its number of servers for this world. */
export interface TriedCollective extends CollectiveDefinition {
  readonly servers?: ((ranks: number) => number) | undefined;
  /** δ/N of its streams. */
  readonly delta?: number | undefined;
}

/** Zeros of the inputs are absent entries where the payload is sparse. */
export function runCollective<V extends Values>(
  collective: TriedCollective,
  communicators: readonly TransportCommunicator[],
  kind: 'dense' | 'sparse',
  inputs: readonly V[],
  operation: ReduceOperation = 'sum',
  quantization?: Quantization,
): Promise<Outcome<V>[]> {
  return Promise.all(
    communicators.map((communicator, rank) =>
      runRank(collective, communicator, kind, inputs[rank]!, operation, quantization),
    ),
  );
}

/** One rank's part in it, which starts at once. */
export async function runRank<V extends Values>(
  collective: TriedCollective,
  communicator: TransportCommunicator,
  kind: 'dense' | 'sparse',
  input: V,
  operation: ReduceOperation = 'sum',
  quantization?: Quantization,
): Promise<Outcome<V>> {
  const { arena } = communicator;
  const payload = payloadOf(arena, kind, input, operation);
  communicator.begin({
    epoch: 0,
    operation: collective.code,
    dtype: 1,
    quantization,
    servers: collective.servers?.(communicator.size),
    delta: collective.delta,
  });
  try {
    const combined = await collective.run(communicator, payload);
    const [sum, present] = resultOf(arena, combined, input, operation);
    return {
      sum,
      get entries() {
        return Array.from(sum, (value, i) => (present(i) ? value : undefined));
      },
      form: combined.form === 'dense' ? 'dense' : 'sparse',
      count: 'count' in combined ? combined.count : undefined,
      sentBytes: communicator.sentBytes,
      receivedBytes: communicator.receivedBytes,
      sentMessages: communicator.sentMessages,
    };
  } finally {
    // The memory is the caller's again: whatever becomes of it must hurt nobody.
    arena.u8(payload.data.offset, payload.data.bytes).fill(0xff);
    arena.release(payload.data);
  }
}

export const valueBytesIn = (values: Values): ValueBytes =>
  values.BYTES_PER_ELEMENT as ValueBytes;

/** Elements of the arena, copied: values of a stream lie at any multiple of 4 bytes. */
function copied<V extends Values>(
  arena: Arena,
  { offset, length }: Vector,
  like: V,
): V {
  const bytes = arena.u8(offset, like.BYTES_PER_ELEMENT * length).slice();
  const values =
    like instanceof Float32Array
      ? new Float32Array(bytes.buffer)
      : new Float64Array(bytes.buffer);
  return values as V;
}

/** Elements put into the arena. */
export function put(arena: Arena, offset: number, values: Values): void {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  arena.u8(offset, bytes.length).set(bytes);
}

export function payloadOf(
  arena: Arena,
  kind: 'dense' | 'sparse',
  values: Values,
  operation: ReduceOperation = 'sum',
): Payload {
  const { length, BYTES_PER_ELEMENT: bytes } = values;
  if (kind === 'dense') {
    const data = arena.allocate(bytes * length);
    put(arena, data.offset, values);
    if (operation !== 'sum') {
      const words = bytes / 4;
      const bits = arena.u32(data.offset, words * length);
      for (const [index, value] of values.entries()) {
        if (value === 0) bits.fill(ABSENT_BITS, words * index, words * (index + 1));
      }
    }
    return { kind, length, data };
  }
  const count = entryCount(values);
  const data = arena.allocate((4 + bytes) * count);
  const indices = arena.u32(data.offset, count);
  const entries = values.slice(0, count);
  for (let i = 0, entry = 0; i < length; i++) {
    if (values[i] === 0) continue;
    indices[entry] = i;
    entries[entry++] = values[i]!;
  }
  put(arena, data.offset + 4 * count, entries);
  return { kind, length, count, data };
}

export function payloadBytes(kind: 'dense' | 'sparse', values: Values): number {
  if (kind === 'dense') return values.byteLength;
  return (4 + values.BYTES_PER_ELEMENT) * entryCount(values);
}

/** Those that are not 0. */
export function entryCount(values: Values): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] !== 0) count++;
  return count;
}

/** The first place at which they differ, −1 where nowhere: −0 and +0 are the same number. */
export function firstDifference(values: Values, expected: Values): number {
  if (values.length !== expected.length) return values.length;
  for (let i = 0; i < values.length; i++) if (values[i] !== expected[i]) return i;
  return -1;
}

/** The result with 0 where there is no entry, and whether there is one. */
function resultOf<V extends Values>(
  arena: Arena,
  combined: Combined,
  like: V,
  operation: ReduceOperation,
): readonly [V, (index: number) => boolean] {
  if (combined.form === 'gathered') throw new Error('a reduction is not gathered');
  const { length } = like;
  if (combined.form === 'dense') {
    const { offset } = combined.data;
    const sum = copied(arena, { offset, length }, like);
    if (operation === 'sum') return [sum, (index) => sum[index] !== 0];
    const bits = new Uint32Array(sum.slice().buffer);
    const words = like.BYTES_PER_ELEMENT / 4;
    const present = (index: number): boolean => {
      for (let word = 0; word < words; word++) {
        if (bits[words * index + word] !== ABSENT_BITS) return true;
      }
      return false;
    };
    for (const index of sum.keys()) if (!present(index)) sum[index] = 0;
    return [sum, present];
  }
  const sum = like.slice() as V;
  sum.fill(0);
  const all = new Set<number>();
  let last = -1;
  for (const { offset, count } of sparseStreams(combined)) {
    const values = copied(arena, { offset: offset + 4 * count, length: count }, like);
    arena.u32(offset, count).forEach((index, place) => {
      if (index <= last) throw new Error('not ascending');
      last = index;
      all.add(index);
      sum[index] = values[place]!;
    });
  }
  if (all.size !== combined.count) throw new Error('another count');
  return [sum, (index) => all.has(index)];
}

/** The sum over ranks, the slow way; exact for integers. */
export function sumOf<V extends Values>(inputs: readonly V[]): V {
  const sum = inputs[0]!.slice() as V;
  for (const input of inputs.slice(1)) {
    for (let i = 0; i < sum.length; i++) if (input[i] !== 0) sum[i]! += input[i]!;
  }
  return sum;
}

/** Small integers, of which about `density` are not 0; every rank has its own. */
export function integers(rank: number, length: number, density = 1): Float32Array {
  const random = generator(1000 * rank + length);
  return drawn(new Float32Array(length), random, density, () => {
    return Math.floor(random() * 201) - 100;
  });
}

/** Integers that f32 would round, but whose sums f64 does not. */
export function longIntegers(rank: number, length: number, density = 1): Float64Array {
  const random = generator(3 + 1000 * rank + length);
  return drawn(new Float64Array(length), random, density, () => {
    return Math.floor((random() - 0.5) * 2 ** 48) + 0.5;
  });
}

/** Values of many magnitudes, in which the order of summation shows. */
export function floats(rank: number, length: number, density = 1): Float32Array {
  const random = generator(7 + 1000 * rank + length);
  return drawn(new Float32Array(length), random, density, () => {
    return (random() - 0.5) * 10 ** (8 * random() - 4);
  });
}

/** A loop: `from` takes ten times as long, and tests draw millions. */
function drawn<V extends Values>(
  into: V,
  random: () => number,
  density: number,
  draw: () => number,
): V {
  for (let i = 0; i < into.length; i++) {
    const value = draw();
    into[i] = random() < density ? value : 0;
  }
  return into;
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

export function sameBits(a: Values, b: Values): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  );
}

/** Of many megabytes, too: a callback for each byte would take seconds. */
export function isFilledWith(value: number, bytes: Uint8Array): boolean {
  const expected = new Uint8Array(bytes.length).fill(value);
  return Buffer.compare(bytes, expected) === 0;
}
