/**
 * The loop of a program that is only observed: it communicates by itself, and each step of its
 * optimiser is an iteration. Ranks do not talk to each other.
 */
import { zeroTimes, sumPhases } from '../../shared/records/phases.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { Program } from '../bridge/program.ts';
import type { Stepped } from '../bridge/messages.ts';
import type { StepResult } from '../training/trainer.ts';
import type { Gathered } from '../world/report-channel.ts';
import { LoggedValues } from './steps/logged-values.ts';
import { passesOf } from './steps/program-steps.ts';

export interface ObservedOptions {
  readonly rank: number;
  readonly program: Program;
  readonly plan: ExchangePlan;
  /** `iterations` of the spec. */
  readonly iterations: number;
  readonly report: (report: Gathered<RunRecord>) => void;
  readonly room: () => Promise<void> | undefined;
  /** Whether the user wants it to stop. */
  readonly stops: () => boolean;
}

/** The collective of what a program averages by itself. */
const OWN = 'own';

/** Resolves when the program has no further step, or was to stop. */
export async function observe(options: ObservedOptions): Promise<void> {
  const { iterations, program, rank, report, room, stops } = options;
  let iteration = 0;
  let loss: number | undefined;
  const logged = new LoggedValues((notice) => {
    report({ type: 'notice', at: Date.now(), rank, ...notice });
  });
  while (iteration < iterations && !stops()) {
    const stepped = await program.observed();
    if (stepped === undefined) break;
    const result = logged.of(stepped, iteration);
    ({ loss } = result);
    const record = observedRecord(stepped, result, { iteration, ...options });
    report(() => record);
    iteration++;
    await room();
  }
  if (rank !== 0) return;
  report({
    type: 'done',
    at: Date.now(),
    reason: stops() ? 'stopped' : 'completed',
    iterations: iteration,
    ...(loss === undefined ? {} : { loss }),
  });
}

function observedRecord(
  stepped: Stepped,
  { loss, metric }: StepResult,
  {
    iteration,
    plan,
    rank,
  }: Pick<ObservedOptions, 'plan' | 'rank'> & {
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
    bytes: { dense: bytes, payload: bytes },
    ...(loss === undefined ? {} : { loss }),
    ...(metric === undefined ? {} : { metric }),
    lr,
    epoch: 0,
    method: plan.method,
    collective: OWN,
  };
}
