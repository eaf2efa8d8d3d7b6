/**
 * Predictions: the time of each collective for a shape on a network, term by term, and
 * the cheapest one. `auto`, `gradwire plan` and the benchmark of the collectives use
 * them; each collective's own file has its cost.
 */
import type { PayloadKind } from '../../shared/catalogue/catalogue.ts';
import {
  addTerms,
  costTerms,
  NO_COST,
  totalSeconds,
  type CostTerms,
} from '../../shared/cost-model/cost-terms.ts';
import {
  burstSeconds,
  messageSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';
import { placedSeconds } from './node-links.ts';
import { candidatesFor } from './registry.ts';
import { timedFactor } from './timed-factor.ts';
import { treeDepth } from './folding.ts';

export interface Prediction extends CostTerms {
  /** A collective's id, or `allgather` or `broadcast` of whole payloads. */
  readonly collective: string;
  /** The sum of the terms. */
  readonly seconds: number;
  /** Bytes that the busiest rank sends, framing excluded. */
  readonly wireBytes: number;
}

/** The prediction for one collective. */
export function predict(
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): Prediction {
  const factor = timedFactor(collective, shape, network);
  const terms = costTerms(
    (constants) => factor * placedSeconds(collective, shape, constants),
    network,
  );
  return messages(collective.id, terms, collective.wireBytes(shape));
}

/**
 * All collectives that `auto` may choose for this kind, cheapest first, equal costs in
 * registry order.
 */
export function predictAll(
  kind: PayloadKind,
  shape: ExchangeShape,
  network: NetworkCost,
): readonly Prediction[] {
  return predictSums(kind, [shape], network);
}

/** Predicts, as `predictAll`, several consecutive sums, all by one collective. */
export function predictSums(
  kind: PayloadKind,
  shapes: readonly ExchangeShape[],
  network: NetworkCost,
): readonly Prediction[] {
  return candidatesFor(kind, shapes[0]?.places)
    .map((collective) => {
      const each = shapes.map((shape) => predict(collective, shape, network));
      const terms = each.reduce<CostTerms>(addTerms, NO_COST);
      const wireBytes = each.reduce((sum, one) => sum + one.wireBytes, 0);
      return messages(collective.id, terms, wireBytes);
    })
    .sort((a, b) => a.seconds - b.seconds);
}

type Whole = Pick<ExchangeShape, 'ranks' | 'payloadBytes' | 'places'>;

/** Every payload to every rank, as `gather.ts` does it: all at once. */
export const predictGather = (shape: Whole, network: NetworkCost): Prediction =>
  predictWhole('allgather', GATHER, shape, network);

const GATHER: Costs = {
  cost: ({ ranks, payloadBytes }, network) =>
    burstSeconds(network, ranks - 1, payloadBytes),
  wireBytes: ({ ranks, payloadBytes }) => (ranks - 1) * payloadBytes,
};

/** The root's payload down a tree, as `broadcast.ts` does it: ⌈log₂P⌉·(α + bytes·β). */
export const predictBroadcast = (shape: Whole, network: NetworkCost): Prediction =>
  predictWhole('broadcast', BROADCAST, shape, network);

const depthOf = ({ ranks }: ExchangeShape): number => treeDepth(ranks);

const BROADCAST: Costs = {
  cost: (shape, network) =>
    depthOf(shape) * messageSeconds(network, shape.payloadBytes),
  wireBytes: (shape) => depthOf(shape) * shape.payloadBytes,
  // Neighbours are in one subtree: each other node is reached once.
  crossing: ({ payloadBytes }, places) => (new Set(places).size - 1) * payloadBytes,
};

type Costs = Pick<CollectiveDefinition, 'cost' | 'wireBytes' | 'crossing'>;

function predictWhole(
  name: string,
  costs: Costs,
  whole: Whole,
  network: NetworkCost,
): Prediction {
  const shape = { length: 0, ...whole };
  const terms = costTerms(
    (constants) => placedSeconds(costs, shape, constants),
    network,
  );
  return messages(name, terms, costs.wireBytes(shape));
}

const messages = (
  collective: string,
  { latency, bandwidth, reduction }: CostTerms,
  wireBytes: number,
): Prediction => {
  const terms = { latency, bandwidth, reduction };
  return { collective, seconds: totalSeconds(terms), ...terms, wireBytes };
};
