/** `gradwire runs trace`: trace the next iterations of a run, and write what its threads did. */
import { InvalidArgumentError, type Command } from 'commander';
import { failure, inputError } from '../../shared/errors/errors.ts';
import { MOST_TRACED } from '../../shared/orders/trace.ts';
import type { TraceRecord } from '../../shared/records/trace.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { IterationPlace, TracedStretch } from '../../shared/rpc/run-pieces.ts';
import { chromeTrace } from '../../shared/trace/chrome-trace.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { writeOutput } from '../files/vector-file.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

interface TraceFlags extends ConnectFlags {
  readonly json: boolean;
  readonly iterations: number;
  readonly out: string;
}

const DEFAULT_ITERATIONS = 20;

export function addRunsTraceCommand(runs: Command): void {
  const command = runs
    .command('trace')
    .description(
      'trace the next iterations of a run in progress, for Perfetto; of an ended run, write ' +
        'what was traced',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option(
      '--iterations <n>',
      `how many, 1 to ${MOST_TRACED}`,
      iterationCount,
      DEFAULT_ITERATIONS,
    )
    .requiredOption('--out <file>', 'the file to write: JSON that Perfetto opens')
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: TraceFlags) => {
      await withWorkspace(async (workspace) => {
        const id = resolveRun(workspace.store, name);
        const stretch = await traced(workspace, id, flags.iterations);
        const records = recordsOf(workspace.store, id, stretch);
        await writeOutput(flags.out, chromeTrace(records, id));
        const { from, to } = stretch;
        answer(
          flags.json,
          { run: id, from, to, out: flags.out },
          `run ${id}: iterations ${from} to ${to - 1} in ${flags.out}; ` +
            'open it at https://ui.perfetto.dev\n',
        );
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}

function iterationCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_TRACED) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_TRACED}.`);
}

/** The newly traced iterations of a run in progress; of an ended one, its last. */
async function traced(
  { coordinator, events, store }: Workspace,
  id: string,
  iterations: number,
): Promise<TracedStretch> {
  const before = store.traces.stretches(id).at(-1);
  if (hasEnded(store.summary(id).state)) {
    if (before !== undefined) return before;
    throw inputError('TRACE_MISSING', `run ${id} has ended, and nothing was traced`, {
      next: 'Trace a run while it is in progress.',
    });
  }
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let missing = iterations * store.summary(id).ranks;
  events.records = (run, entries) => {
    if (run !== id) return;
    missing -= entries.filter(({ record }) => record.type === 'trace').length;
    if (missing <= 0) resolve(undefined);
  };
  await coordinator.following.follow(id, { keep: false });
  await coordinator.orders.give(id, { type: 'trace', iterations });
  // A run may end before.
  await Promise.race([promise, coordinator.following.ended(id)]);
  const stretch = store.traces.stretches(id).at(-1);
  if (stretch !== undefined && stretch.to !== before?.to) {
    return { ...stretch, from: Math.max(stretch.from, before?.to ?? 0) };
  }
  throw failure('TRACE_MISSING', `run ${id} ended before it traced an iteration`);
}

function recordsOf(
  store: RunStore,
  id: string,
  { from, to }: TracedStretch,
): readonly TraceRecord[] {
  const records: TraceRecord[] = [];
  let place: IterationPlace | undefined = { from };
  while (place !== undefined) {
    const piece = store.traces.piece(id, { ...place, to });
    records.push(...piece.records);
    place = piece.next;
  }
  return records;
}
