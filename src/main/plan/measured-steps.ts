/** Mean steps of the user's own runs of one model, to be held against a plan. */
import type {
  MeasuredQuery,
  MeasuredStep,
} from '../../shared/forecast/measured-step.ts';
import { emulatedNetwork } from '../../shared/machines/emulated-network.ts';
import { OWN_PHASES } from '../../shared/records/phases.ts';
import { readComparedRun } from '../compare/read-run.ts';
import type { RunStore } from '../store/run-store.ts';

/** Newest runs that are looked at, and how many of them are read. */
const MOST_LISTED = 1000;
const MOST_READ = 40;
/** Iterations from which a mean says something: the first ones compile. */
const FEWEST_ITERATIONS = 20;

/** Newest first. Runs that were switched, hide exchanges or are split are left out. */
export function measuredSteps(
  store: RunStore,
  { batchPerRank, dataset, model }: MeasuredQuery,
): readonly MeasuredStep[] {
  const found = store.runs
    .list({ limit: MOST_LISTED })
    .filter(
      (run) =>
        run.model === model &&
        run.dataset === dataset &&
        run.iterations >= FEWEST_ITERATIONS &&
        run.methods.length === 1,
    );
  const steps: MeasuredStep[] = [];
  for (const { id } of found) {
    if (steps.length === MOST_READ) break;
    const run = readComparedRun(store, id);
    const { name, nodes, plan, spec, step, switches } = run;
    if (step === undefined || switches.length > 0) continue;
    if (spec.workload.batchPerRank !== batchPerRank) continue;
    if (spec.parallelism !== undefined || spec.overlap || spec.doubleBuffer) continue;
    const { exchange, network, world } = spec;
    steps.push({
      run: id,
      name,
      method: exchange.method,
      plan,
      ranks: world.ranks,
      machines: nodes.length,
      bandwidth: network && emulatedNetwork(network).bandwidth,
      compute: OWN_PHASES.reduce((sum, phase) => sum + (step.phases[phase] ?? 0), 0),
      step: step.wall,
      sent: step.sent,
    });
  }
  return steps;
}
