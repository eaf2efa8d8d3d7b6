/** Has a run in progress trace its next iterations, and waits for their records. */
import { failure, inputError } from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { TracedStretch } from '../../shared/rpc/run-pieces.ts';
import type { Workspace } from './workspace.ts';

/** Time between two counts of what is stored. */
const COUNT_MS = 1000;

/** The newly traced iterations of a run in progress; of an ended one, its last. */
export async function traced(
  { coordinator, events, store }: Pick<Workspace, 'coordinator' | 'events' | 'store'>,
  id: string,
  iterations: number,
): Promise<TracedStretch> {
  const all = store.traces.stretches(id);
  const before = all.at(-1);
  if (hasEnded(store.summary(id).state)) {
    if (before !== undefined) return before;
    throw inputError('TRACE_MISSING', `run ${id} has ended, and nothing was traced`, {
      next: 'Trace a run while it is in progress.',
    });
  }
  const { promise, reject, resolve } = Promise.withResolvers<undefined>();
  let missing = iterations * store.summary(id).ranks;
  const expected = recordsOf(all) + missing;
  events.records = (run, entries) => {
    if (run !== id) return;
    missing -= entries.filter(({ record }) => record.type === 'trace').length;
    if (missing <= 0) resolve(undefined);
  };
  await coordinator.following.follow(id, { keep: false });
  await coordinator.orders.give(id, { type: 'trace', iterations });
  // Nobody tells of records that another process stores.
  const counting = setInterval(() => {
    try {
      if (recordsOf(store.traces.stretches(id)) >= expected) resolve(undefined);
    } catch (error) {
      reject(error as Error);
    }
  }, COUNT_MS);
  try {
    // A run may end before.
    await Promise.race([promise, coordinator.following.ended(id)]);
  } finally {
    clearInterval(counting);
  }
  const stretch = store.traces.stretches(id).at(-1);
  if (stretch !== undefined && stretch.to !== before?.to) {
    return { ...stretch, from: Math.max(stretch.from, before?.to ?? 0) };
  }
  throw failure('TRACE_MISSING', `run ${id} ended before it traced an iteration`);
}

const recordsOf = (stretches: readonly TracedStretch[]): number =>
  stretches.reduce((sum, { records }) => sum + records, 0);
