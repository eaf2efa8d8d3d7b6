/**
 * An iteration's record from the trainer thread's marks and the engine thread's profile.
 * The engine's phases are within the time that the trainer waited for the exchange; time
 * that the engine cannot account for (hand-over between threads) is `other`. A measure that is
 * not finite is left out.
 */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { sumPhases, zeroTimes } from '../../shared/records/phases.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { ExchangeResult } from '../exchange/exchange-calls.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { ComputedStep } from '../training/trainer.ts';

/** Milliseconds on the trainer thread's clock. */
interface TrainerMarks {
  /** Wall-clock time, ms since 1970. */
  readonly at: number;
  readonly wall: number;
  readonly data: number;
  readonly compute: number;
  readonly apply: number;
}

const EXCHANGE_PHASES = [
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
  'apply',
] as const;

/** The current plan, whether or not ranks exchange in this iteration. */
export interface PlanInForce {
  readonly epoch: number;
  readonly plan: Pick<ExchangePlan, 'method' | 'collective'>;
}

export interface IterationFacts {
  readonly rank: number;
  readonly iteration: number;
  /** Elements of the gradient. */
  readonly length: number;
  readonly lr: number;
  readonly marks: TrainerMarks;
  readonly step: ComputedStep;
  /** Result of the exchange; undefined if the ranks did not exchange. */
  readonly exchange: ExchangeResult | undefined;
  readonly inForce: PlanInForce | undefined;
  /** Iterations by which the gradient is older than the weights that it moved. */
  readonly staleness: number;
  /** The trainer thread that computed it, if the rank has several. */
  readonly thread?: number | undefined;
  readonly drained?: boolean | undefined;
  /** Profiles of averages at the fence before this iteration. */
  readonly averages: readonly ExchangeProfile[];
}

export function makeIterationRecord(facts: IterationFacts): IterationRecord {
  const { marks, exchange, length } = facts;
  const phases = zeroTimes();
  const waitedFor: Record<string, number> = {};
  let overlapped = 0;
  const profiles = exchange === undefined ? [] : [exchange.profile];
  for (const profile of [...profiles, ...facts.averages]) {
    const { hidden } = profile;
    for (const phase of EXCHANGE_PHASES) {
      const passed = hidden?.phases[phase] ?? 0;
      phases[phase] += profile.phases[phase] - passed;
      overlapped += passed;
    }
    for (const [rank, time] of Object.entries(profile.waitedFor)) {
      const exposed = time - (hidden?.waitedFor[Number(rank)] ?? 0);
      if (exposed > 0) waitedFor[rank] = (waitedFor[rank] ?? 0) + exposed;
    }
    overlapped += profile.overlapped;
  }
  phases.data = marks.data;
  const { activations, passes } = facts.step;
  if (passes === undefined) phases.compute = marks.compute;
  phases.apply += marks.apply;
  const wall = inNanoseconds(marks.wall);
  const known = roundedTimes({ ...phases, ...passes, other: 0 });
  const other = inNanoseconds(Math.max(0, wall - sumPhases(known)));

  const { loss, metric } = facts.step;
  return {
    type: 'iteration',
    rank: facts.rank,
    iteration: facts.iteration,
    at: marks.at,
    wall,
    phases: { ...known, other },
    ...(Object.keys(waitedFor).length === 0
      ? {}
      : { waitedFor: roundedTimes(waitedFor) }),
    overlapped: inNanoseconds(overlapped),
    ...(facts.staleness === 0 ? {} : { staleness: facts.staleness }),
    ...(facts.thread === undefined ? {} : { trainerThread: facts.thread }),
    ...(facts.drained === true ? { drained: true as const } : {}),
    ...(exchange === undefined
      ? aloneBy(facts.inForce, length)
      : exchanged(exchange, exchange.elements ?? length)),
    ...(activations === undefined ? {} : { activations }),
    ...(loss === undefined ? {} : { loss }),
    ...(metric === undefined ? {} : { metric }),
    lr: facts.lr,
  };
}

/**
 * Milliseconds rounded to nanoseconds, the clock's resolution: further digits come from
 * subtraction and would make up a fifth of a run's stored and sent bytes.
 */
const inNanoseconds = (time: number): number => Math.round(time * 1e6) / 1e6;

const roundedTimes = <T extends Readonly<Record<string, number>>>(times: T): T =>
  Object.fromEntries(
    Object.entries(times).map(([name, time]) => [name, inNanoseconds(time)]),
  ) as T;

const NOTHING_SENT = {
  payload: 0,
  wireSent: 0,
  wireReceived: 0,
  framingSent: 0,
  framingReceived: 0,
};

/** The record's values for an iteration without exchange. */
function aloneBy(inForce: PlanInForce | undefined, length: number) {
  if (inForce === undefined) throw new Error('internal: no plan is in force');
  const { epoch, plan } = inForce;
  const { collective, method } = plan;
  const bytes = { dense: 4 * length, ...NOTHING_SENT };
  return { exchanged: false as const, bytes, epoch, method, collective };
}

function exchanged({ bytes, statistics, ...exchange }: ExchangeResult, length: number) {
  const { nnzLocal, nnzReduced, thresholdRefreshes } = statistics;
  const { clipped, residualNorm } = exchange;
  return {
    bytes: {
      dense: 4 * length,
      payload: bytes.payload,
      wireSent: bytes.wireSent,
      wireReceived: bytes.wireReceived,
      framingSent: bytes.framingSent,
      framingReceived: bytes.framingReceived,
    },
    ...(nnzLocal === undefined ? {} : { nnzLocal, density: nnzLocal / length }),
    ...(nnzReduced === undefined ? {} : { nnzReduced }),
    ...(thresholdRefreshes === undefined ? {} : { thresholdRefreshes }),
    // One that is not finite has its notice: training diverges.
    ...(residualNorm === undefined || !Number.isFinite(residualNorm)
      ? {}
      : { residualNorm }),
    ...(clipped === undefined ? {} : { clipped }),
    epoch: exchange.epoch,
    method: exchange.method,
    collective: exchange.collective,
  };
}
