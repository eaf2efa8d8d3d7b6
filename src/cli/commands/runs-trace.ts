/** `gradwire runs trace`: trace the next iterations of a run, and write what its threads did. */
import { InvalidArgumentError, type Command } from 'commander';
import { MOST_TRACED } from '../../shared/orders/trace.ts';
import type { TraceRecord } from '../../shared/records/trace.ts';
import type { IterationPlace, TracedStretch } from '../../shared/rpc/run-pieces.ts';
import { isLate, lateText } from '../../shared/trace/timeline.ts';
import { chromeTrace } from '../../shared/trace/chrome-trace.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { TRACE_AGAIN, traced, type NewlyTraced } from '../session/traced.ts';
import { withWorkspace } from '../session/workspace.ts';
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
        const { cut, from, to } = stretch;
        const late = records.filter(isLate).length;
        answer(
          flags.json,
          {
            run: id,
            from,
            to,
            out: flags.out,
            late,
            ...(cut === undefined ? {} : { cut }),
          },
          `run ${id}: iterations ${from} to ${to - 1} in ${flags.out}; ` +
            `open it at https://ui.perfetto.dev\n${cutText(cut)}${lateLine(late, records.length)}`,
        );
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}

/** A line on a trace that lacks records; none if it has all. */
function cutText(cut: NewlyTraced['cut']): string {
  if (cut === undefined) return '';
  const { come, expected, why } = cut;
  const records = `${come} of ${expected} records came`;
  return why === 'ended'
    ? `the run ended while it was traced: ${records}\n`
    : `the run was interrupted while it was traced: ${records}. ${TRACE_AGAIN}\n`;
}

/** A line on ranks that heard of the order too late; none if there are none. */
const lateLine = (late: number, all: number): string =>
  late === 0 ? '' : `${lateText(late, all)} Trace more iterations.\n`;

function iterationCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_TRACED) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_TRACED}.`);
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
