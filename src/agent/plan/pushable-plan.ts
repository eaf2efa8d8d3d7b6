/**
 * Checks plans for ranks that push their payloads to servers: no collective, and only methods
 * that need no other rank.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { findMethod } from '../methods/registry.ts';

/**
 * Refuses a collective as written, because suggesting another one would not help.
 * @throws GradwireError `COLLECTIVE_MISFIT`
 */
export function refuseCollective({
  collective = 'auto',
  delta,
  quantizeSums,
  servers,
}: Readonly<Record<string, unknown>>): void {
  const none = 'asynchronous training has no collective; ranks push to servers';
  if (collective !== 'auto') {
    throw inputError(
      'COLLECTIVE_MISFIT',
      `collective: ${String(collective)}, but ${none}`,
      {
        place: 'exchange.collective',
        next: 'Leave it at auto; parallelism.servers sets the number of servers.',
      },
    );
  }
  if (quantizeSums !== undefined && quantizeSums !== null) {
    throw inputError(
      'COLLECTIVE_MISFIT',
      `quantizeSums quantises what a collective sends, but ${none}`,
      {
        place: 'exchange.quantizeSums',
        next: 'Remove it, or use a method that quantises, such as qsgd.',
      },
    );
  }
  if (delta !== undefined && delta !== null) {
    throw inputError(
      'COLLECTIVE_MISFIT',
      `delta is for the sparse streams of a collective, but ${none}`,
      { place: 'exchange.delta', next: 'Remove it.' },
    );
  }
  if (servers === undefined || servers === null) return;
  throw inputError(
    'COLLECTIVE_MISFIT',
    `servers belongs to a collective, but ${none}`,
    {
      place: 'exchange.servers',
      next: 'Set parallelism.servers instead, which applies to the whole run.',
    },
  );
}

/** @throws GradwireError `METHOD_NEEDS_PEERS`, `METHOD_OPTIMIZER_MISFIT` */
export function requirePushable(plan: ExchangePlan): void {
  const { layers = [], method } = plan;
  for (const { parameters } of [plan, ...layers]) {
    if (Number(parameters['diagnosticsEvery'] ?? 0) === 0) continue;
    throw inputError(
      'METHOD_NEEDS_PEERS',
      'diagnosticsEvery compares the ranks with each other; a rank that pushes to servers on its own cannot',
      {
        place: 'exchange.diagnosticsEvery',
        next: 'Remove it, or use parallelism.kind: synchronous.',
      },
    );
  }
  for (const id of [method, ...layers.map((layer) => layer.method)]) {
    const { agreesOn, movesPart, values } = findMethod(id);
    if (movesPart === true) {
      throw inputError(
        'METHOD_OPTIMIZER_MISFIT',
        `${id} combines the ranks’ payloads without averaging, but servers divide each push by the number of ranks`,
        {
          place: 'exchange.method',
          next: 'Use another method, or parallelism.kind: synchronous.',
        },
      );
    }
    if (values !== undefined) {
      throw inputError(
        'METHOD_NEEDS_PEERS',
        `${id} sends values of 16 bits that ranks sum among themselves; servers of weights take f32`,
        {
          place: 'exchange.method',
          next: 'Use another method, or parallelism.kind: synchronous.',
        },
      );
    }
    if (agreesOn === undefined) continue;
    throw inputError(
      'METHOD_NEEDS_PEERS',
      `${id} needs ${agreesOn}; a rank that pushes to servers on its own does not have them`,
      {
        place: 'exchange.method',
        next: 'Use another method, or parallelism.kind: synchronous.',
      },
    );
  }
}
