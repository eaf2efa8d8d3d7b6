/** Collectives that quantise what they send, and peers of theirs that send something wrong. */
import { partRange } from '../../../src/agent/collectives/partition.ts';
import { reduceScatter } from '../../../src/agent/collectives/reduce-scatter.ts';
import type {
  CollectiveDefinition,
  Quantization,
} from '../../../src/agent/collectives/collective.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';
import { lying } from './lying-transport.ts';
import { put, runCollective, type Outcome } from './run-collective.ts';
import { blocksSent, splitSent } from './stream-oracle.ts';
import { makeWorld, sharedWorld } from './world.ts';

/** Payloads that each takes. */
export const KINDS = {
  'scatter-reduce-allgather': 'dense',
  'dsar-split-allgather': 'sparse',
} as const;
export type QuantizingId = keyof typeof KINDS;

/** Each of the collectives with each format. */
export const casesOf = <F extends string>(formats: readonly F[]) =>
  (Object.keys(KINDS) as QuantizingId[]).flatMap((id) =>
    formats.map((format) => [id, format] as const),
  );

/** Sums over the ranks of a world that has one input for each. */
export const sums = (
  world: Pick<Awaited<ReturnType<typeof makeWorld>>, 'communicators'>,
  id: QuantizingId,
  inputs: readonly Float32Array[],
  quantization: Quantization,
): Promise<readonly Outcome[]> =>
  runCollective(
    collectives.get(id)!,
    world.communicators(),
    KINDS[id],
    inputs,
    'sum',
    quantization,
  );

/**
 * Bytes that each rank sends, and the most by the collective's formula, which is known for dense vectors.
 * @param codeBytes bytes of a part, by its number of elements
 */
export function bytesToSend(
  id: QuantizingId,
  inputs: readonly Float32Array[],
  quantization: Quantization,
  codeBytes: (elements: number) => number,
): { readonly sent: readonly number[]; readonly most: number | undefined } {
  const ranks = inputs.length;
  const { length } = inputs[0]!;
  const blocks = inputs.map((_, index) =>
    codeBytes(partRange(length, ranks, index).length),
  );
  const all = blocks.reduce((total, bytes) => total + bytes, 0);
  const isDense = KINDS[id] === 'dense';
  const sent = inputs.map((_, rank) => {
    const first = isDense ? all - blocks[rank]! : splitSent(rank, inputs);
    return first + blocksSent(rank, blocks);
  });
  const shape = { ranks, length, payloadBytes: 4 * length, quantization };
  const collective: CollectiveDefinition = collectives.get(id)!;
  return { sent, most: isDense ? collective.wireBytes(shape) : undefined };
}

/** A rank whose message of this number, from 0 on, is spoiled. */
const spoiling =
  (rank: number, which: number, spoil: (bytes: Uint8Array) => void) =>
  (transport: MeshTransport): Transport =>
    transport.rank === rank
      ? lying(transport, which, (words) => {
          spoil(new Uint8Array(words.buffer));
        })
      : transport;

/** Two ranks with a hundred ones each, of which rank 1 changes the codes that it sends in the second phase. */
export async function spoiledSums(
  id: QuantizingId,
  quantization: Quantization,
  spoil: (bytes: Uint8Array) => void,
): Promise<readonly PromiseSettledResult<Outcome>[]> {
  await using world = await makeWorld(2, {
    timeoutMs: 5000,
    wrap: spoiling(1, 1, spoil),
  });
  const runs = world.communicators().map(async (communicator) => {
    const [outcome] = await runCollective(
      collectives.get(id)!,
      [communicator],
      KINDS[id],
      [new Float32Array(100).fill(1)],
      'sum',
      quantization,
    );
    return outcome!;
  });
  return await Promise.allSettled(runs);
}

/** Three ranks that reduce and scatter ones; the first message of rank 2, for rank 0, is spoiled. */
export async function spoiledContribution(
  quantization: Quantization,
  spoil: (bytes: Uint8Array) => void,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  await using world = await makeWorld(3, {
    timeoutMs: 5000,
    wrap: spoiling(2, 0, spoil),
  });
  const runs = world.communicators().map((communicator) => {
    const { offset } = communicator.scratch('test', 4 * 300);
    put(communicator.arena, offset, new Float32Array(300).fill(1));
    const { code: operation } = reduceScatter;
    communicator.begin({ epoch: 0, operation, dtype: 1, quantization });
    return reduceScatter.run(communicator, { offset, length: 300 });
  });
  return await Promise.allSettled(runs);
}

/**
 * Sums of parts of more than 65,536 elements, which are added a chunk at a time; exact, so that the sum is known.
 * @returns the sums of the ranks, and what they are to be
 */
export async function manyChunks(quantization: Quantization) {
  const length = 2 * 150_001;
  const world = await sharedWorld(2);
  const inputs = world.transports.map((_, rank) =>
    Float32Array.from({ length }, (_, i) => ((rank + i) % 5) / 4),
  );
  const outcomes = await sums(world, 'scatter-reduce-allgather', inputs, quantization);
  const expected = Float32Array.from(
    { length },
    (_, i) => inputs[0]![i]! + inputs[1]![i]!,
  );
  return { outcomes, expected };
}
