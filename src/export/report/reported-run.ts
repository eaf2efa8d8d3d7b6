/** Reads what the report of a run shows. */
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  MOST_ITERATION_RECORDS,
  type IterationPlace,
  type IterationsPiece,
} from '../../shared/rpc/run-pieces.ts';
import { type CoreApi } from '../../shared/rpc/rpc.ts';
import { type RunDetail } from '../../shared/rpc/run-summary.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { rankNodes } from '../../shared/verdict/rank-nodes.ts';
import { RecentIterations } from '../../shared/verdict/recent-iterations.ts';
import {
  effectReach,
  switchEffect,
  type SwitchEffect,
} from '../../shared/verdict/switch-effect.ts';
import {
  hasRefutedCompression,
  linkTimePerByte,
} from '../../shared/verdict/verdict-context.ts';
import { verdict, type Statement } from '../../shared/verdict/verdict.ts';
import { summarizeWindow, windowStart } from '../../shared/verdict/window-summary.ts';
import { readRunBins, type RunBin } from './run-bins.ts';

/** The calls by which a run is read for its report. */
export type ReportedRuns = Pick<CoreApi, 'bins' | 'iterations' | 'run' | 'specToYaml'>;

export interface ReportedRun {
  readonly detail: RunDetail;
  readonly yaml: string;
  readonly bins: readonly RunBin[];
  /** The verdict on its last iterations. */
  readonly statements: readonly Statement[];
  /** The effects of its switches, by epoch, where they can be measured. */
  readonly effects: ReadonlyMap<number, SwitchEffect>;
}

/** Switches whose effect is measured: the latest. */
const MOST_EFFECTS = 50;

/** @param cores of this computer, if known */
export async function readReportedRun(
  runs: ReportedRuns,
  id: string,
  cores: number | undefined,
): Promise<ReportedRun> {
  const detail = await runs.run(id);
  const [yaml, bins, statements, effects] = await Promise.all([
    runs.specToYaml(detail.spec),
    readRunBins(runs, id, detail.iterations),
    readStatements(runs, detail, cores),
    readEffects(runs, detail),
  ]);
  return { detail, yaml, bins, statements, effects };
}

async function readStatements(
  runs: ReportedRuns,
  { events, id, iterations, nodes, ranks }: RunDetail,
  cores: number | undefined,
): Promise<readonly Statement[]> {
  const switches = events.filter((event) => event.type === 'switch');
  const from = windowStart(switches, iterations);
  const recent = await readIterations(runs, id, { from, to: iterations, ranks });
  const summary = summarizeWindow(recent, from, iterations);
  if (summary === undefined) return [];
  const places = rankNodes(events, nodes);
  return verdict(summary, {
    ranks,
    cores: places.size === 0 ? cores : undefined,
    nodes: places,
    linkTime: linkTimePerByte(events),
    doesNotPay: hasRefutedCompression(events),
  });
}

async function readEffects(
  runs: ReportedRuns,
  { events, id, iterations, ranks, spec }: RunDetail,
): Promise<ReadonlyMap<number, SwitchEffect>> {
  const every = localStepsOf(spec)?.every ?? 1;
  const switches = events.filter((event) => event.type === 'switch');
  const effects = new Map<number, SwitchEffect>();
  for (const [index, { epoch, fence }] of switches.entries()) {
    if (index < switches.length - MOST_EFFECTS) continue;
    const from = Math.max(0, fence - every * effectReach(every));
    const to = Math.min(iterations, fence + every * (effectReach(every) + 1));
    const around = await readIterations(runs, id, { from, to, ranks });
    const effect = switchEffect(around, {
      fence,
      previous: switches[index - 1]?.fence,
      next: switches[index + 1]?.fence,
      every,
    });
    if (effect !== undefined) effects.set(epoch, effect);
  }
  return effects;
}

/** The iterations from ≤ i < to, one by one. */
async function readIterations(
  runs: Pick<CoreApi, 'iterations'>,
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
