/**
 * Predictions: what each collective would take for a shape on a network, term by term,
 * and which would be the cheapest. What `auto`, `gradwire plan` and the benchmark of the
 * collectives go by; the costs themselves stand in each collective's own file.
 */
import type { PayloadKind } from '../../shared/catalogue.ts';
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
import { wholeSumsFor } from './registry.ts';
import { timedFactor } from './timed-factor.ts';

export interface Prediction extends CostTerms {
  /** A collective's id, or `allgather` or `broadcast` of whole payloads. */
  readonly collective: string;
  /** The sum of the terms. */
  readonly seconds: number;
  /** What the busiest rank sends, framing excluded. */
  readonly wireBytes: number;
}

/** What one collective would take. */
export function predict(
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): Prediction {
  const factor = timedFactor(collective, shape, network);
  const terms = costTerms(
    (constants) => factor * collective.cost(shape, constants),
    network,
  );
  return messages(collective.id, terms, collective.wireBytes(shape));
}

/** All that `auto` may take for this kind, cheapest first, equals in registry order. */
export function predictAll(
  kind: PayloadKind,
  shape: ExchangeShape,
  network: NetworkCost,
): readonly Prediction[] {
  return predictSums(kind, [shape], network);
}

/** The same of several sums, one after the other, all by one collective. */
export function predictSums(
  kind: PayloadKind,
  shapes: readonly ExchangeShape[],
  network: NetworkCost,
): readonly Prediction[] {
  return wholeSumsFor(kind)
    .map((collective) => {
      const each = shapes.map((shape) => predict(collective, shape, network));
      const terms = each.reduce<CostTerms>(addTerms, NO_COST);
      const wireBytes = each.reduce((sum, one) => sum + one.wireBytes, 0);
      return messages(collective.id, terms, wireBytes);
    })
    .sort((a, b) => a.seconds - b.seconds);
}

type Whole = Pick<ExchangeShape, 'ranks' | 'payloadBytes'>;

/** Every payload to every rank, as `gather.ts` does it: all at once. */
export function predictGather(
  { ranks, payloadBytes }: Whole,
  network: NetworkCost,
): Prediction {
  const peers = ranks - 1;
  const terms = costTerms(
    (constants) => burstSeconds(constants, peers, payloadBytes),
    network,
  );
  return messages('allgather', terms, peers * payloadBytes);
}

/** The root's payload down a tree, as `broadcast.ts` does it: ⌈log₂P⌉·(α + bytes·β). */
export function predictBroadcast(
  { ranks, payloadBytes }: Whole,
  network: NetworkCost,
): Prediction {
  const depth = Math.ceil(Math.log2(ranks));
  const terms = costTerms(
    (constants) => depth * messageSeconds(constants, payloadBytes),
    network,
  );
  return messages('broadcast', terms, depth * payloadBytes);
}

const messages = (
  collective: string,
  { latency, bandwidth, reduction }: CostTerms,
  wireBytes: number,
): Prediction => {
  const terms = { latency, bandwidth, reduction };
  return { collective, seconds: totalSeconds(terms), ...terms, wireBytes };
};
