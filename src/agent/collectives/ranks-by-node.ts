/**
 * Groups ranks by the node that they share, and says what each does there. The vector has as many
 * lanes as the node with the fewest ranks has ranks: contiguous parts of it. Lane j belongs to the
 * j-th rank of every node, which sums it within the node and talks to its counterparts, the j-th
 * ranks of the other nodes. So as many ranks of a node as possible sum and send, whatever the
 * nodes' sizes; ranks beyond the lanes only contribute, and get the result.
 *
 * Nodes are in the order of their first ranks, ranks of a node in ascending order: the same
 * on all ranks, and contiguous numbers are not needed.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { Communicator } from './collective.ts';

export interface RanksByNode {
  /** M: the ranks of each node. */
  readonly nodes: readonly (readonly number[])[];
  /** Lanes: ranks of the smallest node. */
  readonly lanes: number;
}

/** A rank's view of them. */
export interface PlaceOnNode extends RanksByNode {
  /** Index of this rank's node. */
  readonly node: number;
  /** The ranks of this node, this one included. */
  readonly local: readonly number[];
  /** Index of this rank among them: that of its lane, if it has one. */
  readonly place: number;
  /** Ranks of this lane by node, this one included; none if it has no lane. */
  readonly counterparts: readonly number[];
}

/**
 * @param places a number for the node of each rank, by rank; equal numbers, one node
 */
export function ranksByNode(places: readonly number[]): RanksByNode {
  const byPlace = Map.groupBy(places.keys(), (rank) => places[rank]!);
  const nodes = [...byPlace.values()];
  return { nodes, lanes: Math.min(...nodes.map(({ length }) => length)) };
}

/** Finds this rank's position, according to the places in its communicator. */
export function placeOnNode({
  places,
  rank,
}: Pick<Communicator, 'places' | 'rank'>): PlaceOnNode {
  const groups = ranksByNode(places);
  const { nodes, lanes } = groups;
  const node = nodes.findIndex((members) => members.includes(rank));
  const local = nodes[node]!;
  const place = local.indexOf(rank);
  const counterparts = place < lanes ? nodes.map((members) => members[place]!) : [];
  return { ...groups, node, local, place, counterparts };
}

/** All ranks on one node: the default. */
export const onOneNode = (ranks: number): readonly number[] =>
  new Array<number>(ranks).fill(0);

/** Whether there are several nodes, and several ranks on one of them. */
export function spansNodes(places: readonly number[] | undefined): boolean {
  if (places === undefined) return false;
  const { length } = ranksByNode(places).nodes;
  return length > 1 && length < places.length;
}

/** @throws GradwireError `PLACES_INVALID` unless each rank has a place */
export function assertPlaces(places: readonly number[], ranks: number): void {
  const wrong = places.find((place) => !Number.isInteger(place) || place < 0);
  if (places.length === ranks && wrong === undefined) return;
  const what =
    wrong === undefined
      ? `${places.length} machine numbers for ${ranks} ranks`
      : `${wrong} is not a machine number`;
  throw inputError('PLACES_INVALID', what, {
    next: 'Give the machine number of each rank, such as 0,0,1,1.',
  });
}
