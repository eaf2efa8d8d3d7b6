/**
 * What the tests know of each collective: the payload that they try it with and the bytes
 * that each rank must send. A collective without an entry here fails the tests, unless it
 * leaves entries out of the sum: `ok-topk.test.ts`.
 */
import { rabenseifnerBytesSent } from '../../../src/agent/collectives/rabenseifner.ts';
import { recursiveDoublingBytesSent } from '../../../src/agent/collectives/recursive-doubling.ts';
import { ringBytesSent } from '../../../src/agent/collectives/ring.ts';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import {
  payloadBytes,
  valueBytesIn,
  type TriedCollective,
  type Values,
} from './run-collective.ts';
import {
  blocksSent,
  bytesOf,
  doublingSent,
  entriesOf,
  sparseRingSent,
  splitSent,
  united,
  unitedTree,
} from './stream-oracle.ts';
import { hierarchicalSent, sparseHierarchicalSent } from './node-cases.ts';

export interface CollectiveCase {
  /** Its id; default: the name of the case. */
  readonly collective?: string;
  /** The number of servers in a world of this size, where it has some. */
  readonly servers?: (ranks: number) => number;
  readonly kind: 'dense' | 'sparse';
  /** Whether bytes depend on which entries the ranks have, not on how many alone. */
  readonly fillsIn?: boolean;
  /** Exact bytes that each rank sends, framing excluded. */
  sent(inputs: readonly Values[]): readonly number[];
}

type BytesSent = typeof ringBytesSent;

/** Of part `part`. */
const blockBytes = (input: Values, parts: number, part: number): number =>
  input.BYTES_PER_ELEMENT * entriesOf(input, parts, part).length;

const dense = (bytesSent: BytesSent): CollectiveCase => ({
  kind: 'dense',
  sent: (inputs) =>
    inputs.map((input, rank) =>
      bytesSent(rank, {
        ranks: inputs.length,
        length: input.length,
        payloadBytes: input.byteLength,
        valueBytes: valueBytesIn(input),
      }),
    ),
});

/** Every rank's block but the owner's directly, then all blocks, doubling. */
const scattered: CollectiveCase = {
  kind: 'dense',
  sent: (inputs) => {
    const ranks = inputs.length;
    const blocks = inputs.map((input, part) => blockBytes(input, ranks, part));
    const all = blocks.reduce((sum, bytes) => sum + bytes, 0);
    return inputs.map((_, rank) => all - blocks[rank]! + blocksSent(rank, blocks));
  },
};

const SERVERS = { '1 server': 1, '2 servers': 2, 'all servers': Infinity };

/** What has no server of its own goes to each; sums go to all, dense or sparse. */
const served = Object.fromEntries(
  (['dense', 'sparse'] as const).flatMap((kind) =>
    Object.entries(SERVERS).map(([name, most]): [string, CollectiveCase] => {
      const servers = (ranks: number): number => Math.min(ranks, most);
      const sent: CollectiveCase['sent'] = (inputs) => {
        const ranks = inputs.length;
        const shards = servers(ranks);
        return inputs.map((input, rank) => {
          let bytes = 0;
          for (let shard = 0; shard < shards; shard++) {
            const brought = inputs.map((from) => entriesOf(from, shards, shard));
            // On one node rank i holds shard i.
            if (kind === 'dense') {
              const part = blockBytes(input, shards, shard);
              bytes += rank === shard ? (ranks - 1) * part : part;
            } else if (rank === shard) {
              bytes += (ranks - 1) * bytesOf(brought.reduce(united));
            } else bytes += bytesOf(brought[rank]!);
          }
          return bytes;
        });
      };
      const fillsIn = kind === 'sparse';
      const id = 'parameter-server';
      return [
        `${id}, ${kind}, ${name}`,
        { collective: id, servers, kind, fillsIn, sent },
      ];
    }),
  ),
);

export const collectiveCases: Readonly<Record<string, CollectiveCase>> = {
  ring: dense(ringBytesSent),
  'recursive-doubling': dense(recursiveDoublingBytesSent),
  rabenseifner: dense(rabenseifnerBytesSent),
  'scatter-reduce-allgather': scattered,
  // All ranks on one node: the same algorithm, in chunks. Nodes: `hierarchical.test.ts`.
  hierarchical: {
    kind: 'dense',
    sent: (inputs) =>
      hierarchicalSent(inputs, new Array<number>(inputs.length).fill(0)),
  },
  'ssar-recursive-doubling': {
    kind: 'sparse',
    fillsIn: true,
    sent: doublingSent,
  },
  'ssar-split-allgather': {
    kind: 'sparse',
    fillsIn: true,
    sent: (inputs) => {
      const ranks = inputs.length;
      const blocks = inputs.map((_, part) =>
        bytesOf(unitedTree(inputs.map((input) => entriesOf(input, ranks, part)))),
      );
      return inputs.map(
        (_, rank) =>
          // Its own part to each of the others.
          splitSent(rank, inputs) + (ranks - 1) * blocks[rank]!,
      );
    },
  },
  'dsar-split-allgather': {
    kind: 'sparse',
    fillsIn: true,
    sent: (inputs) => {
      const ranks = inputs.length;
      const blocks = inputs.map((input, part) => blockBytes(input, ranks, part));
      return inputs.map(
        (_, rank) => splitSent(rank, inputs) + blocksSent(rank, blocks),
      );
    },
  },
  'sparse-ring': {
    kind: 'sparse',
    fillsIn: true,
    sent: sparseRingSent,
  },
  'ssar-hierarchical': {
    kind: 'sparse',
    fillsIn: true,
    sent: (inputs) =>
      sparseHierarchicalSent(inputs, new Array<number>(inputs.length).fill(0)),
  },
  'sparse-allgather': {
    kind: 'sparse',
    sent: (inputs) =>
      inputs.map((input) => (inputs.length - 1) * payloadBytes('sparse', input)),
  },
  ...served,
};

/** The collective of a case, as the case has it. */
export function collectiveOf(name: string): TriedCollective {
  const { collective: id = name, servers } = collectiveCases[name]!;
  const collective = findCollective(id);
  return {
    ...collective,
    servers,
    wireBytes: (shape) =>
      collective.wireBytes({ ...shape, servers: servers?.(shape.ranks) }),
  };
}
