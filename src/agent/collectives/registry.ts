/**
 * All collectives. Ours have a line each; others are registered from outside, in each
 * process that uses them. Lists have this order, and it decides between equal costs.
 */
import type { CollectiveEntry, PayloadKind } from '../../shared/catalogue/catalogue.ts';
import { LOOPBACK } from '../../shared/cost-model/network-cost.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import {
  invalidDefinition,
  register,
  type RegistryKind,
} from '../../shared/catalogue/registry.ts';
import type { ReduceOperation } from '../kernels/reduction.ts';
import type { ValueType } from '../memory/value-type.ts';
import type { CollectiveDefinition, ExchangeShape, NetworkCost } from './collective.ts';
import { dsarSplitAllgather } from './dsar-split-allgather.ts';
import { hierarchical } from './hierarchical.ts';
import { spansNodes } from './ranks-by-node.ts';
import { okTopk } from './ok-topk.ts';
import { parameterServer } from './parameter-server.ts';
import { rabenseifner } from './rabenseifner.ts';
import { recursiveDoubling } from './recursive-doubling.ts';
import { ring } from './ring.ts';
import { assertServers } from './server-ranks.ts';
import { scatterReduceAllgather } from './scatter-reduce-allgather.ts';
import { sparseAllgather } from './sparse-allgather.ts';
import { sparseRing } from './sparse-ring.ts';
import { ssarHierarchical } from './ssar-hierarchical.ts';
import { ssarRecursiveDoubling } from './ssar-recursive-doubling.ts';
import { ssarSplitAllgather } from './ssar-split-allgather.ts';
import { expectedSeconds } from './timed-factor.ts';

const ours: readonly CollectiveDefinition[] = [
  recursiveDoubling,
  rabenseifner,
  // Its chunks are more frames than Rabenseifner's halves, which cost the same by the model.
  ring,
  scatterReduceAllgather,
  hierarchical,
  ssarRecursiveDoubling,
  ssarSplitAllgather,
  dsarSplitAllgather,
  sparseRing,
  sparseAllgather,
  ssarHierarchical,
  okTopk,
  parameterServer,
];

const known = new Map(ours.map((collective) => [collective.id, collective]));
export const collectives: ReadonlyMap<string, CollectiveDefinition> = known;

const KIND: RegistryKind = { code: 'COLLECTIVE', noun: 'collective' };
/** Ids that plans and records use in place of a collective's own. */
const RESERVED = ['auto', 'adaptive', 'allgather', 'broadcast'];
/** Codes from here on are those of other messages. */
const CODES_END = 1000;

/**
 * Makes a collective known to this process. All ranks of a world must know the same.
 * @throws GradwireError `COLLECTIVE_DUPLICATE`; `COLLECTIVE_INVALID` for a code that is
 * taken or out of range, and for a collective that accepts no kind of payload
 */
export function registerCollective(definition: CollectiveDefinition): void {
  const { code, id, takes } = definition;
  if (!Number.isInteger(code) || code < 1 || code >= CODES_END) {
    throw invalidDefinition(
      KIND,
      id,
      `its code ${code} is not in 1 … ${CODES_END - 1}`,
    );
  }
  const other = collectivesInOrder().find((collective) => collective.code === code);
  if (other !== undefined && other.id !== id) {
    throw invalidDefinition(
      KIND,
      id,
      `its code ${code} is already used by ${other.id}`,
    );
  }
  if (takes.length === 0) throw invalidDefinition(KIND, id, 'it takes no payloads');
  register(known, definition, KIND, RESERVED);
}

const collectivesInOrder = (): readonly CollectiveDefinition[] => [...known.values()];

/** @throws GradwireError `COLLECTIVE_UNKNOWN` */
export function findCollective(id: string): CollectiveDefinition {
  const found = collectives.get(id);
  if (found !== undefined) return found;
  const ids = [...collectives.keys(), 'auto', 'adaptive'];
  const suggestion = nearest(String(id), ids);
  throw inputError('COLLECTIVE_UNKNOWN', `there is no collective "${id}"`, {
    next:
      suggestion === undefined
        ? `Known collectives: ${ids.join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}

/** The collectives that accept payloads of this kind. */
export function collectivesFor(kind: PayloadKind): readonly CollectiveDefinition[] {
  return collectivesInOrder().filter(({ takes }) => takes.includes(kind));
}

/**
 * Whether `auto` must not choose it, because it leaves entries out of the sum or has
 * servers.
 */
export const isNamedOnly = ({ partial, hasServers }: CollectiveDefinition): boolean =>
  partial === true || hasServers === true;

/**
 * The candidates of `auto`: those that need not be named, and those for several nodes
 * only if there are several.
 */
export function candidatesFor(
  kind: PayloadKind,
  places: readonly number[] | undefined,
): readonly CollectiveDefinition[] {
  const forNodes = spansNodes(places);
  return collectivesFor(kind).filter(
    (collective) =>
      !isNamedOnly(collective) && (forNodes || collective.forNodes !== true),
  );
}

/**
 * The cheapest collective for this shape, by its cost formula and its measured times;
 * this is what `auto` means.
 * @throws GradwireError `COLLECTIVE_MISFIT`
 */
export function chooseCollective(
  kind: PayloadKind,
  shape: ExchangeShape,
  network: NetworkCost = LOOPBACK,
): CollectiveDefinition {
  let best: CollectiveDefinition | undefined;
  let bestCost = Infinity;
  for (const collective of candidatesFor(kind, shape.places)) {
    const cost = expectedSeconds(collective, shape, network);
    if (best === undefined || cost < bestCost) {
      best = collective;
      bestCost = cost;
    }
  }
  if (best !== undefined) return best;
  throw inputError('COLLECTIVE_MISFIT', `no collective takes ${kind} payloads`, {
    next: 'Choose a method whose payloads can be summed or gathered.',
  });
}

/** The collective that sends payloads of this kind quantised. */
export function quantizingFor(kind: PayloadKind): CollectiveDefinition {
  const found = collectivesFor(kind).find(({ quantizes }) => quantizes === true);
  if (found !== undefined) return found;
  throw inputError('QUANTIZE_MISFIT', `no collective quantises ${kind} payloads`, {
    next: 'Choose a method whose payload is dense or sparse.',
  });
}

/** @throws GradwireError `QUANTIZE_MISFIT`: says which collectives do quantise */
export function assertQuantizes(collective: CollectiveDefinition): void {
  if (collective.quantizes === true) return;
  const able = collectivesInOrder()
    .filter(({ quantizes }) => quantizes === true)
    .map(({ id }) => id);
  throw inputError(
    'QUANTIZE_MISFIT',
    `${collective.id} does not quantise what it sends`,
    {
      next: `Collectives that can: ${able.join(', ')}.`,
    },
  );
}

/**
 * @param servers the requested number
 * @param ranks those of the world, if known
 * @throws GradwireError `SERVERS_MISFIT` if the collective has no servers,
 * `SERVERS_INVALID`
 */
export function assertServes(
  collective: string,
  servers: number,
  ranks: number | undefined,
): void {
  if (collectives.get(collective)?.hasServers === true) {
    if (ranks !== undefined) assertServers(servers, ranks);
    return;
  }
  const able = collectivesInOrder()
    .filter(({ hasServers }) => hasServers === true)
    .map(({ id }) => id);
  const message = `servers: ${servers}, but the collective is ${collective}`;
  throw inputError('SERVERS_MISFIT', message, {
    next: `Remove servers, or use collective=${able.join(' or collective=')}.`,
  });
}

/**
 * @param algorithm a collective's id, or one that leaves the choice to the cost model
 * @param kind of the payload; default: one that the algorithm may make sparse
 * @throws GradwireError `DELTA_MISFIT`: no stream of this exchange could turn dense
 */
export function assertStreams(
  algorithm: string,
  delta: number | 'auto',
  kind: PayloadKind = 'sparse',
): void {
  const named = collectives.get(algorithm);
  const sparse = named === undefined || named.takes.includes('sparse');
  if (sparse && kind === 'sparse') return;
  const because = sparse
    ? `a ${kind} payload is no sparse stream`
    : `${algorithm} has no sparse streams`;
  throw inputError('DELTA_MISFIT', `delta: ${delta}, but ${because}`, {
    next: `Remove delta, or use one of ${collectivesFor('sparse')
      .map(({ id }) => id)
      .join(', ')} with sparse payloads.`,
  });
}

/** @throws GradwireError `COLLECTIVE_MISFIT`: partial sums exist only for sums of f32 */
export function assertReduces(
  { id, partial }: CollectiveDefinition,
  operation: ReduceOperation,
  values: ValueType,
): void {
  if (partial !== true || (operation === 'sum' && values === 'f32')) return;
  throw inputError(
    'COLLECTIVE_MISFIT',
    `${id} cannot compute a ${operation} of ${values} values`,
    {
      next: `Use another algorithm: ${id} keeps the largest sums of f32 values only.`,
    },
  );
}

/** @throws GradwireError `COLLECTIVE_MISFIT`: says which collectives do fit */
export function assertFits(
  collective: CollectiveDefinition,
  kind: PayloadKind,
  methodId: string,
): void {
  if (collective.takes.includes(kind)) return;
  const fitting = collectivesFor(kind).map(({ id }) => id);
  throw inputError(
    'COLLECTIVE_MISFIT',
    `${collective.id} accepts ${collective.takes.join(' or ')} payloads, ` +
      `but ${methodId} produces ${kind} ones`,
    { next: `Use collective=${[...fitting, 'auto'].join(' or collective=')}.` },
  );
}

export function describeCollectives(): readonly CollectiveEntry[] {
  return collectivesInOrder().map(
    ({ id, title, summary, source, formula, suits, takes, hasServers }) => ({
      id,
      title,
      summary,
      source,
      formula,
      suits,
      takes,
      ...(hasServers === undefined ? {} : { hasServers }),
    }),
  );
}
