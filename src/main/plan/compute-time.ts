/**
 * Measured time that a step of a spec's model computes: one rank of it trains for a moment on
 * this computer, alone, as any other run does. The run is not kept on the list.
 */
import { failure } from '../../shared/errors/errors.ts';
import { DEFAULT_METHOD } from '../../shared/plan/exchange-plan.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { median } from '../../shared/numbers/quantile.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import type { RunStore } from '../store/run-store.ts';

const ITERATIONS = 24;
/** Compilation, caches. */
const SETTLING = 8;

interface Parts {
  readonly store: RunStore;
  readonly coordinator: RunCoordinator;
  /** Rejects with trouble that no call reports; default: there is none. */
  readonly trouble?: Promise<never>;
  /** Called when the run is off the list. */
  readonly deleted?: (run: string) => void;
}

/** The spec of a short run of one rank here, which computes as the spec's ranks do. */
export const computingSpec = (spec: ExperimentSpec): ParsedSpec =>
  parseExperimentSpec({
    ...spec,
    name: `computation of ${spec.name}`.slice(0, 120),
    world: { ranks: 1, nodes: [LOCAL_NODE] },
    // Links may be of machines that this run does not have.
    network: undefined,
    exchange: { method: DEFAULT_METHOD },
    iterations: ITERATIONS,
    evaluateEvery: 0,
  });

/**
 * @returns seconds of data, gradient and update of one iteration: the median
 * @throws GradwireError `COMPUTE_NOT_MEASURED`; why the run did not start
 */
export async function measureComputeTime(
  spec: ExperimentSpec,
  { coordinator, deleted, store, trouble }: Parts,
): Promise<number> {
  const { id } = await coordinator.launches.create(computingSpec(spec));
  await coordinator.launches.begin(id);
  const ended = coordinator.following.ended(id);
  const { state, error } = await Promise.race(
    trouble === undefined ? [ended] : [ended, trouble],
  );
  const times = [...store.reads.allIterations(id)]
    .filter(({ iteration }) => iteration >= SETTLING)
    .map(({ phases: { data, compute, apply } }) => (data + compute + apply) / 1000);
  store.setDeleted(id, true);
  deleted?.(id);
  const time = median(times);
  if (time !== undefined) return time;
  throw failure('COMPUTE_NOT_MEASURED', `the short run ${state}`, {
    place: error?.message,
    next: 'Give the time of one iteration instead: --compute MS.',
  });
}
