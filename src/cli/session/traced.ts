/** Has a run in progress trace its next iterations, and waits for their records. */
import { failure, inputError } from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { TracedStretch } from '../../shared/rpc/run-pieces.ts';
import type { Workspace } from './workspace.ts';

/** Time between two counts of what is stored. */
const COUNT_MS = 1000;

/** Traced iterations; fewer than were ordered if the run ended or was interrupted before. */
export interface NewlyTraced extends TracedStretch {
  readonly cut?: {
    readonly why: 'interrupted' | 'ended';
    /** Records of ranks that came, of those that were expected. */
    readonly come: number;
    readonly expected: number;
  };
}

/** The newly traced iterations of a run in progress; of an ended one, its last. */
export async function traced(
  { coordinator, events, store }: Pick<Workspace, 'coordinator' | 'events' | 'store'>,
  id: string,
  iterations: number,
): Promise<NewlyTraced> {
  if (hasEnded(store.summary(id).state)) {
    const last = store.traces.stretches(id).at(-1);
    if (last !== undefined) return last;
    throw inputError('TRACE_MISSING', `run ${id} has ended, and nothing was traced`, {
      next: 'Trace a run while it is in progress.',
    });
  }
  const { promise, reject, resolve } = Promise.withResolvers<
    'traced' | 'interrupted' | 'ended'
  >();
  await coordinator.following.follow(id, { keep: false });
  // An interruption or a trace before the order says nothing about what it brings.
  await coordinator.following.caughtUp();
  const all = store.traces.stretches(id);
  const before = all.at(-1);
  const earlier = recordsOf(all);
  const expected = iterations * store.summary(id).ranks;
  let missing = expected;
  events.records = (run, entries) => {
    if (run !== id) return;
    missing -= entries.filter(({ record }) => record.type === 'trace').length;
    if (missing <= 0) resolve('traced');
    // Ranks that resume know nothing of the order.
    if (entries.some(({ record }) => record.type === 'interrupted'))
      resolve('interrupted');
  };
  await coordinator.orders.give(id, { type: 'trace', iterations });
  // Nobody tells of records that another process stores.
  const counting = setInterval(() => {
    try {
      if (recordsOf(store.traces.stretches(id)) - earlier >= expected)
        resolve('traced');
    } catch (error) {
      reject(error as Error);
    }
  }, COUNT_MS);
  const ended = async (): Promise<'ended'> => {
    await coordinator.following.ended(id);
    return 'ended';
  };
  let why: 'traced' | 'interrupted' | 'ended';
  try {
    why = await Promise.race([promise, ended()]);
  } finally {
    clearInterval(counting);
  }
  const now = store.traces.stretches(id);
  const stretch = now.at(-1);
  const come = recordsOf(now) - earlier;
  if (stretch !== undefined && stretch.to !== before?.to) {
    const newly = { ...stretch, from: Math.max(stretch.from, before?.to ?? 0) };
    return why === 'traced' || come >= expected
      ? newly
      : { ...newly, cut: { why, come, expected } };
  }
  throw why === 'interrupted'
    ? failure(
        'TRACE_MISSING',
        `run ${id} was interrupted before it traced an iteration`,
        {
          next: TRACE_AGAIN,
        },
      )
    : failure('TRACE_MISSING', `run ${id} ended before it traced an iteration`);
}

/** The remedy for a trace that an interruption has ended. */
export const TRACE_AGAIN = 'Trace again once the run goes on.';

const recordsOf = (stretches: readonly TracedStretch[]): number =>
  stretches.reduce((sum, { records }) => sum + records, 0);
