/** Places of ranks on nodes, as tests of hierarchical collectives try them. */
import { generator } from './run-collective.ts';

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
