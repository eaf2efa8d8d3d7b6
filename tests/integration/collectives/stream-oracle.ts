/**
 * What streams become when they are merged, counted on sets: the slow way to the exact
 * bytes that the sparse collectives must send. A stream is the entries of one range.
 */
import type { Values } from './run-collective.ts';

export interface Entries {
  readonly indices: ReadonlySet<number>;
  readonly length: number;
  /** Bytes of a value. */
  readonly size: number;
  readonly dense: boolean;
  /** δ/N; default: where both forms are equally long. */
  readonly delta?: number | undefined;
}

/** Range `index` of `parts` of a rank's input, of which zeros are absent. */
export function entriesOf(
  input: Values,
  parts = 1,
  index = 0,
  delta?: number,
): Entries {
  const most = Math.floor(input.length / parts);
  const start = index * most;
  const end = index === parts - 1 ? input.length : start + most;
  const indices = new Set<number>();
  for (let i = start; i < end; i++) if (input[i] !== 0) indices.add(i);
  const length = end - start;
  const size = input.BYTES_PER_ELEMENT;
  const dense = atDelta(indices.size, { length, size, delta });
  return { indices, length, size, dense, delta };
}

/** |H₁| + |H₂| ≥ δ decides, not the union. */
export function united(a: Entries, b: Entries): Entries {
  const entries = a.indices.size + b.indices.size;
  return {
    indices: new Set([...a.indices, ...b.indices]),
    length: a.length,
    size: a.size,
    dense: a.dense || b.dense || atDelta(entries, a),
    delta: a.delta,
  };
}

/** Neighbours, then their results. */
export function unitedTree(all: readonly Entries[]): Entries {
  if (all.length === 1) return all[0]!;
  const next: Entries[] = [];
  for (let i = 0; i < all.length; i += 2) {
    const [a, b] = [all[i]!, all[i + 1]];
    next.push(b === undefined ? a : united(a, b));
  }
  return unitedTree(next);
}

/** Header of 8, then pairs of an index of 4 bytes and a value, or elements. */
export const bytesOf = ({ indices, length, dense, size }: Entries): number =>
  8 + (dense ? size * length : (4 + size) * indices.size);

/** δ = N·isize/(c + isize), or the given share of N. */
const atDelta = (
  entries: number,
  { length, size, delta }: Pick<Entries, 'length' | 'size' | 'delta'>,
): boolean =>
  length > 0 &&
  entries >= (delta === undefined ? (length * size) / (4 + size) : length * delta);

/** What each rank sends in a recursive doubling of whole streams. */
export const doublingSent = (
  inputs: readonly Values[],
  delta?: number,
): readonly number[] =>
  swapsSent(inputs.map((input) => entriesOf(input, 1, 0, delta))).swapped;

/** The same of any streams, by rank, and what each rank has in the end. */
export function swapsSent(own: readonly Entries[]): {
  readonly swapped: readonly number[];
  readonly results: readonly Entries[];
} {
  const ranks = own.length;
  const sent = own.map(() => 0);
  const streams = [...own];
  if (ranks === 1) return { swapped: sent, results: streams };
  let core = 1;
  while (2 * core <= ranks) core *= 2;
  const folded = ranks - core;
  const send = (rank: number): void => {
    sent[rank]! += bytesOf(streams[rank]!);
  };
  for (let pair = 0; pair < folded; pair++) {
    send(2 * pair);
    streams[2 * pair + 1] = united(streams[2 * pair]!, streams[2 * pair + 1]!);
  }
  const rankAt = (place: number): number =>
    place < folded ? 2 * place + 1 : place + folded;
  for (let distance = 1; distance < core; distance *= 2) {
    const before = [...streams];
    for (let place = 0; place < core; place++) {
      const rank = rankAt(place);
      send(rank);
      streams[rank] = united(before[rank]!, before[rankAt(place ^ distance)]!);
    }
  }
  for (let pair = 0; pair < folded; pair++) {
    send(2 * pair + 1);
    streams[2 * pair] = streams[2 * pair + 1]!;
  }
  return { swapped: sent, results: streams };
}

/** What a rank sends in the first phase of the split algorithms. */
export function splitSent(rank: number, inputs: readonly Values[]): number {
  return inputs.reduce(
    (sum, _, peer) =>
      peer === rank
        ? sum
        : sum + bytesOf(entriesOf(inputs[rank]!, inputs.length, peer)),
    0,
  );
}

/** What a rank sends where every rank's block of so many bytes goes to all, doubling. */
export function blocksSent(rank: number, blocks: readonly number[]): number {
  const ranks = blocks.length;
  let sent = 0;
  for (let distance = 1; distance < ranks; distance *= 2) {
    for (let i = 0; i < Math.min(distance, ranks - distance); i++) {
      sent += blocks[(rank + i) % ranks]!;
    }
  }
  return sent;
}

/** What each rank sends around the ring: partial parts, then finished ones. */
export function sparseRingSent(
  inputs: readonly Values[],
  delta?: number,
): readonly number[] {
  const ranks = inputs.length;
  const sent = inputs.map(() => 0);
  for (let part = 0; part < ranks; part++) {
    let stream = entriesOf(inputs[part]!, ranks, part, delta);
    for (let step = 1; step < ranks; step++) {
      const sender = (part + step - 1) % ranks;
      sent[sender]! += bytesOf(stream);
      const next = entriesOf(inputs[(sender + 1) % ranks]!, ranks, part, delta);
      stream = united(stream, next);
    }
    // It ends at the rank below `part`, which begins to pass it on.
    for (let step = 0; step < ranks - 1; step++) {
      sent[(part - 1 + step + ranks) % ranks]! += bytesOf(stream);
    }
  }
  return sent;
}
