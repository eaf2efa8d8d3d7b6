/** Reads the verdict on a run's last iterations, wherever its records are. */
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  MOST_ITERATION_RECORDS,
  type IterationPlace,
  type IterationsPiece,
} from '../../shared/rpc/run-pieces.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';
import { RecentIterations } from '../../shared/verdict/recent-iterations.ts';
import { verdictContext } from '../../shared/verdict/verdict-context.ts';
import { verdict, type Verdict } from '../../shared/verdict/verdict.ts';
import {
  summarizeWindow,
  windowStart,
  type WindowSummary,
} from '../../shared/verdict/window-summary.ts';

type ReadRuns = Pick<CoreApi, 'iterations'>;

/** The last iterations under the current plan; undefined if there are none. */
export async function readWindow(
  runs: ReadRuns,
  { events, id, iterations, ranks }: RunDetail,
): Promise<WindowSummary | undefined> {
  const switches = events.filter((event) => event.type === 'switch');
  const from = windowStart(switches, iterations);
  const recent = await readIterations(runs, id, { from, to: iterations, ranks });
  return summarizeWindow(recent, from, iterations);
}

/** @param cores of this computer, for runs whose records do not say how many there are */
export async function readVerdict(
  runs: ReadRuns,
  detail: RunDetail,
  cores: number | undefined,
): Promise<Verdict | undefined> {
  const summary = await readWindow(runs, detail);
  return summary && verdict(summary, verdictContext(detail, cores));
}

/** The iterations from ≤ i < to, one by one. */
export async function readIterations(
  runs: ReadRuns,
  run: string,
  {
    from,
    ranks,
    to,
  }: { readonly from: number; readonly to: number; readonly ranks: number },
): Promise<RecentIterations> {
  const read = new RecentIterations(ranks, Math.max(1, to - from));
  let next: IterationPlace | undefined = { from };
  while (next !== undefined && next.from < to) {
    const range = { ...next, to, most: MOST_ITERATION_RECORDS };
    const piece: IterationsPiece = await runs.iterations(run, range);
    for (const { record } of piece.entries) read.add(record as IterationRecord);
    next = piece.next;
  }
  return read;
}
