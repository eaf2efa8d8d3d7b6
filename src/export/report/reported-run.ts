/** Reads what the report of a run shows. */
import { type CoreApi } from '../../shared/rpc/rpc.ts';
import { type RunDetail } from '../../shared/rpc/run-summary.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { settingsInUse } from '../../shared/spec/program-settings.ts';
import {
  effectReach,
  switchEffect,
  type SwitchEffect,
} from '../../shared/verdict/switch-effect.ts';
import type { Verdict } from '../../shared/verdict/verdict.ts';
import { readIterations, readVerdict } from './read-verdict.ts';
import { readRunBins, type RunBin } from './run-bins.ts';

/** The calls by which a run is read for its report. */
export type ReportedRuns = Pick<CoreApi, 'bins' | 'iterations' | 'run' | 'specToYaml'>;

export interface ReportedRun {
  readonly detail: RunDetail;
  readonly yaml: string;
  readonly bins: readonly RunBin[];
  /** The verdict on its last iterations; undefined if they are too few. */
  readonly verdict: Verdict | undefined;
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
  const [yaml, bins, verdict, effects] = await Promise.all([
    runs.specToYaml(settingsInUse(detail.spec)),
    readRunBins(runs, id, detail.iterations),
    readVerdict(runs, detail, cores),
    readEffects(runs, detail),
  ]);
  return { detail, yaml, bins, verdict, effects };
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
