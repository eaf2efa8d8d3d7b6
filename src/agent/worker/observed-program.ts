/**
 * The loop of a program that is only observed: it communicates by itself, and each step of its
 * optimiser is an iteration. Ranks do not talk to each other.
 */
import { zeroTimes, sumPhases } from '../../shared/records/phases.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { ForecastRecord } from '../../shared/records/forecast.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { Program } from '../bridge/program.ts';
import type { Stepped, Unseen } from '../bridge/messages.ts';
import type { StepResult } from '../training/trainer.ts';
import type { Gathered } from '../world/report-channel.ts';
import { rankError } from './trainers/rank-error.ts';
import { ObservedBuckets, type OwnAverages } from './observed-buckets.ts';
import { LoggedValues } from './steps/logged-values.ts';
import type { ObservedTraces } from './observed-traces.ts';
import { passesOf } from './steps/program-steps.ts';

export interface ObservedOptions {
  readonly rank: number;
  /** Ranks of the run. */
  readonly ranks: number;
  readonly program: Program;
  readonly traces: ObservedTraces;
  readonly plan: ExchangePlan;
  /** `iterations` of the spec. */
  readonly iterations: number;
  readonly report: (report: Gathered<RunRecord>) => void;
  readonly room: () => Promise<void> | undefined;
  /** Whether the user wants it to stop. */
  readonly stops: () => boolean;
  /** Elements of its first model. */
  readonly elements: number;
  /** Predicts what exchanges through Gradwire would take. */
  readonly forecast: (own: OwnAverages) => Promise<ForecastRecord>;
}

/** The iteration from which steps have settled: timing methods beside the program disturbs none that is judged. */
const SETTLED = 20;

/** The collective of what a program averages by itself. */
const OWN = 'own';

/** Resolves when the program has no further step, or was to stop. */
export async function observe(options: ObservedOptions): Promise<void> {
  const { iterations, plan, program, rank, ranks, report, room, stops, traces } =
    options;
  let iteration = 0;
  let loss: number | undefined;
  let forecast: Promise<void> | undefined;
  let isOver = false;
  const logged = new LoggedValues((notice) => {
    report({ type: 'notice', at: Date.now(), rank, ...notice });
  });
  const buckets = new ObservedBuckets({
    rank,
    ranks,
    method: plan.method,
    collective: OWN,
    report,
  });
  while (iteration < iterations && !stops()) {
    const stepped = await program.observed();
    if (stepped === undefined) break;
    if (stepped.type === 'unseen') {
      report(unseenNotice(stepped, { rank, iteration }));
      continue;
    }
    const result = logged.of(stepped, iteration);
    ({ loss } = result);
    buckets.add(iteration, stepped);
    const { isEncoded } = buckets;
    const record = observedRecord(stepped, result, {
      iteration,
      isEncoded,
      ...options,
    });
    report(() => record);
    traces.passed(iteration, stepped.step, buckets.layout);
    iteration++;
    if (iteration === SETTLED && rank === 0 && ranks > 1) {
      forecast = reportForecast(options, buckets, () => isOver);
    }
    await room();
  }
  buckets.close();
  traces.close();
  if (rank !== 0) return;
  if (!stops()) await forecast;
  isOver = true;
  report({
    type: 'done',
    at: Date.now(),
    reason: stops() ? 'stopped' : 'completed',
    iterations: iteration,
    ...(loss === undefined ? {} : { loss }),
  });
}

/** Reports the prediction, or that there is none: the program goes on all the same. */
async function reportForecast(
  { elements, forecast, rank, report }: ObservedOptions,
  buckets: ObservedBuckets,
  isOver: () => boolean,
): Promise<void> {
  try {
    const record = await forecast(buckets.averagesOf(elements));
    if (!isOver()) report(record);
  } catch (error) {
    if (isOver()) return;
    const { message } = rankError(error);
    report({
      type: 'notice',
      at: Date.now(),
      rank,
      level: 'warning',
      code: 'FORESIGHT_UNAVAILABLE',
      message: `exchanges through Gradwire could not be predicted: ${message}`,
    });
  }
}

/** The program goes on unseen: its run would look as if it had ended. */
const unseenNotice = (
  { why }: Unseen,
  { iteration, rank }: { readonly rank: number; readonly iteration: number },
): RunRecord => ({
  type: 'notice',
  at: Date.now(),
  rank,
  level: 'warning',
  code: 'PROGRAM_UNSEEN',
  message: `the program goes on, but is observed no more after ${iteration} steps: ${why}`,
});

function observedRecord(
  stepped: Stepped,
  { loss, metric }: StepResult,
  {
    isEncoded,
    iteration,
    plan,
    rank,
  }: Pick<ObservedOptions, 'plan' | 'rank'> & {
    readonly isEncoded: boolean;
    readonly iteration: number;
  },
): IterationRecord {
  const {
    at,
    apply,
    bytes = 0,
    data = 0,
    lr,
    overlapped = 0,
    wait = 0,
    wall,
  } = stepped.step;
  const known = { ...zeroTimes(), ...passesOf(stepped), data, wait, apply };
  return {
    type: 'iteration',
    rank,
    iteration,
    at,
    wall,
    phases: { ...known, other: Math.max(0, wall - sumPhases(known)) },
    overlapped,
    // A hook of the program may send anything: it is not known.
    bytes: isEncoded ? { dense: bytes } : { dense: bytes, payload: bytes },
    ...(loss === undefined ? {} : { loss }),
    ...(metric === undefined ? {} : { metric }),
    lr,
    epoch: 0,
    method: plan.method,
    collective: OWN,
  };
}
