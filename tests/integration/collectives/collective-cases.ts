/**
 * What the tests know of each collective: the payload that they try it with and the bytes
 * that each rank must send. A collective without an entry here fails the tests, unless it
 * leaves entries out of the sum: `ok-topk.test.ts`.
 */
import { rabenseifnerBytesSent } from '../../../src/agent/collectives/rabenseifner.ts';
import { recursiveDoublingBytesSent } from '../../../src/agent/collectives/recursive-doubling.ts';
import { ringBytesSent } from '../../../src/agent/collectives/ring.ts';
import { payloadBytes, valueBytesIn, type Values } from './run-collective.ts';
import {
  blocksSent,
  bytesOf,
  doublingSent,
  entriesOf,
  sparseRingSent,
  splitSent,
  unitedTree,
} from './stream-oracle.ts';
import { hierarchicalSent, sparseHierarchicalSent } from './node-cases.ts';

export interface CollectiveCase {
  readonly kind: 'dense' | 'sparse';
  /** Whether bytes depend on which entries the ranks have, not on how many alone. */
  readonly fillsIn?: boolean;
  /** Exact bytes that each rank sends, framing excluded. */
  sent(inputs: readonly Values[]): readonly number[];
}

type BytesSent = typeof ringBytesSent;

const blockBytes = (input: Values, ranks: number, part: number): number =>
  input.BYTES_PER_ELEMENT * entriesOf(input, ranks, part).length;

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
        (_, rank) => splitSent(rank, inputs) + blocksSent(rank, blocks),
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
};
