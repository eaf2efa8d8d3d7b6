/**
 * Decides at a switch about the state that buckets keep besides their residual: a method's
 * velocities, thresholds and factors, a collective's ranges. Pure: it depends only on the
 * plans, so all ranks decide alike.
 *
 *   the next plan has                               state
 *   the same tensors in one bucket, method kept     kept, if it holds under the parameters
 *   the tensors in other buckets                    dropped, for it is of the bucket
 *   another method for them                         dropped
 *
 * A collective's memory is kept with its bucket and method while the collective stays.
 */
import type { JsonObject } from '../../shared/checks/json.ts';
import type { StateOutcome } from '../../shared/records/switch.ts';
import type { SavedMemory } from '../collectives/collective-memory.ts';
import type { MethodDefinition } from '../methods/method.ts';
import type { Bucket } from '../plan/buckets.ts';

/** The state of a bucket of the ending plan. */
export interface BucketState {
  readonly method: MethodDefinition;
  readonly parameters: JsonObject;
  /** Names, in the order of the bucket. */
  readonly tensors: readonly string[];
  /** The method's state; undefined if it keeps none. */
  readonly state: Uint8Array | undefined;
  /** The collectives' state, by id. */
  readonly memory: SavedMemory;
}

/** The state to restore in a bucket of the new plan. */
export type CarriedState = Pick<BucketState, 'state' | 'memory'>;

export interface StateTransition {
  readonly outcome: StateOutcome;
  /** Ids of the methods and collectives that lost some state, each once. */
  readonly dropped: readonly string[];
}

type NextBucket = Pick<Bucket, 'policy' | 'tensors'>;

/** @param collective that carries the bucket; undefined if payloads are gathered */
export function stateFor(
  left: readonly BucketState[],
  { policy, tensors }: NextBucket,
  collective: string | undefined,
): CarriedState | undefined {
  const { method, parameters } = policy;
  const before = left.find(
    (one) =>
      one.method.id === method.id &&
      one.tensors.length === tensors.length &&
      one.tensors.every((name, index) => name === tensors[index]!.name),
  );
  if (before === undefined) return undefined;
  const holds = method.stateHolds?.(before.parameters, parameters) === true;
  const memory = Object.entries(before.memory).filter(([id]) => id === collective);
  return {
    state: holds ? before.state : undefined,
    memory: Object.fromEntries(memory),
  };
}

/** @param carried state of all buckets that got any */
export function stateTransition(
  left: readonly BucketState[],
  carried: readonly CarriedState[],
): StateTransition {
  const states = new Set(carried.map(({ state }) => state));
  const memories = new Set(carried.flatMap(({ memory }) => Object.values(memory)));
  const parts = left.flatMap(({ method, state, memory }) => [
    ...(state === undefined ? [] : [{ of: method.id, kept: states.has(state) }]),
    ...Object.entries(memory).map(([id, numbers]) => ({
      of: id,
      kept: memories.has(numbers),
    })),
  ]);
  const lost = parts.filter(({ kept }) => !kept);
  return {
    outcome: outcomeOf(parts.length, lost.length),
    dropped: [...new Set(lost.map(({ of }) => of))],
  };
}

function outcomeOf(parts: number, lost: number): StateOutcome {
  if (parts === 0) return 'none';
  if (lost === 0) return 'kept';
  return lost === parts ? 'dropped' : 'partly';
}
