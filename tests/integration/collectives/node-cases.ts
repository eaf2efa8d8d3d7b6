/**
 * Places of ranks on nodes, as tests of hierarchical collectives try them, and the bytes that
 * each rank must send there, counted the slow way.
 */
import { generator, type Values } from './run-collective.ts';
import {
  bytesOf,
  entriesOf,
  swapsSent,
  unitedTree,
  type Entries,
} from './stream-oracle.ts';

/** Named, for what is special about them. */
export const PLACES: Readonly<Record<string, readonly number[]>> = {
  'all on one node': [0, 0, 0, 0, 0],
  'one on each node': [4, 2, 0, 1, 3],
  'two nodes of equal ranks': [0, 0, 0, 0, 1, 1, 1, 1],
  'numbered around the nodes': [0, 1, 2, 0, 1, 2, 0, 1, 2],
  'nodes of unequal ranks': [0, 0, 0, 0, 1, 1, 2, 2, 2],
  'a node of one rank': [7, 7, 5, 7, 7],
};

/** Any number of nodes, any number of ranks on each, in any order. */
export function randomPlaces(ranks: number, seed: number): readonly number[] {
  const random = generator(seed);
  const nodes = 1 + Math.floor(ranks * random());
  return Array.from({ length: ranks }, () => Math.floor(nodes * random()));
}

/** The ranks of each node, and the j-th ranks of all nodes for as many j as all have. */
function groupsOf(places: readonly number[]): {
  readonly nodes: readonly (readonly number[])[];
  readonly lanes: readonly (readonly number[])[];
} {
  const nodes = [...new Set(places)].map((place) =>
    [...places.keys()].filter((rank) => places[rank] === place),
  );
  const count = Math.min(...nodes.map(({ length }) => length));
  const lanes = Array.from({ length: count }, (_, lane) =>
    nodes.map((members) => members[lane]!),
  );
  return { nodes, lanes };
}

/** Elements of parts as `partition.ts` has them. */
const sizesOf = (length: number, parts: number): readonly number[] =>
  Array.from({ length: parts }, (_, index) => {
    const size = Math.floor(length / parts);
    return index === parts - 1 ? length - size * (parts - 1) : size;
  });

/** Of vectors so short that a lane has a chunk for each node. */
export function hierarchicalSent(
  inputs: readonly Values[],
  places: readonly number[],
): readonly number[] {
  const { nodes, lanes } = groupsOf(places);
  const bytes = inputs[0]!.BYTES_PER_ELEMENT;
  const laneSizes = sizesOf(inputs[0]!.length, lanes.length);
  return inputs.map((_, rank) => {
    const local = nodes.find((members) => members.includes(rank))!;
    const home = nodes.indexOf(local);
    let elements = 0;
    for (const [lane, owners] of lanes.entries()) {
      const size = laneSizes[lane]!;
      if (!owners.includes(rank)) {
        elements += size;
        continue;
      }
      elements += size * (local.length - 1);
      for (const [node, chunk] of sizesOf(size, nodes.length).entries()) {
        elements += chunk * (node === home ? nodes.length - 1 : 1);
      }
    }
    return bytes * elements;
  });
}

/** The same of streams: split within the node, swapped between nodes, gathered within. */
export function sparseHierarchicalSent(
  inputs: readonly Values[],
  places: readonly number[],
): readonly number[] {
  const { nodes, lanes } = groupsOf(places);
  const sent = inputs.map(() => 0);
  for (const members of nodes) {
    for (const rank of members) {
      for (const peer of members.keys()) {
        if (members[peer] === rank) continue;
        const part = lanes[peer] && entriesOf(inputs[rank]!, lanes.length, peer);
        sent[rank]! += part === undefined ? 8 : bytesOf(part);
      }
    }
  }
  for (const [lane, owners] of lanes.entries()) {
    const merged = nodes.map((members): Entries =>
      unitedTree(members.map((rank) => entriesOf(inputs[rank]!, lanes.length, lane))),
    );
    const { swapped, results } = swapsSent(merged);
    for (const [node, owner] of owners.entries()) {
      sent[owner]! += swapped[node]!;
      sent[owner]! += (nodes[node]!.length - 1) * bytesOf(results[node]!);
    }
  }
  return sent;
}
