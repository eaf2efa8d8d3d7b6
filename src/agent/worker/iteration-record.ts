/**
 * An iteration's record from the trainer thread's marks and the engine thread's profile.
 * The engine's phases lie inside the time that the trainer waited for the exchange; what
 * the engine cannot account for (handing over between threads) is `other`.
 */
import { sumPhases, zeroPhases } from '../../shared/phases.ts';
import type { IterationRecord } from '../../shared/records.ts';
import type { ExchangeResult } from '../exchange/exchange-engine.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { StepResult } from '../training/trainer.ts';

/** Milliseconds on the trainer thread's clock. */
export interface TrainerMarks {
  /** Wall-clock time, ms since 1970. */
  readonly at: number;
  readonly wall: number;
  readonly data: number;
  readonly compute: number;
  readonly apply: number;
}

export interface IterationFacts {
  readonly rank: number;
  readonly iteration: number;
  /** Elements of the gradient. */
  readonly length: number;
  readonly lr: number;
  readonly marks: TrainerMarks;
  readonly step: StepResult;
  readonly exchange: ExchangeResult;
  /** Profiles of averages at the fence before this iteration. */
  readonly averages: readonly ExchangeProfile[];
}

export function makeIterationRecord(facts: IterationFacts): IterationRecord {
  const { marks, exchange, length } = facts;
  const phases = zeroPhases();
  const waitedFor: Record<string, number> = {};
  let overlapped = 0;
  for (const profile of [exchange.profile, ...facts.averages]) {
    for (const phase of ['compress', 'send', 'receive', 'wait', 'reduce'] as const) {
      phases[phase] += profile.phases[phase];
    }
    phases.decompress += profile.phases.decompress;
    phases.apply += profile.phases.apply;
    for (const [rank, time] of Object.entries(profile.waitedFor)) {
      waitedFor[rank] = (waitedFor[rank] ?? 0) + time;
    }
    overlapped += profile.overlapped;
  }
  phases.data = marks.data;
  phases.compute = marks.compute;
  phases.apply += marks.apply;
  phases.other = Math.max(0, marks.wall - sumPhases(phases));

  const { nnzLocal, nnzReduced, thresholdRefreshes } = exchange.statistics;
  const { bytes } = exchange;
  return {
    type: 'iteration',
    rank: facts.rank,
    iteration: facts.iteration,
    at: marks.at,
    wall: marks.wall,
    phases,
    ...(Object.keys(waitedFor).length === 0 ? {} : { waitedFor }),
    overlapped,
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
    ...(exchange.residualNorm === undefined
      ? {}
      : { residualNorm: exchange.residualNorm }),
    loss: facts.step.loss,
    metric: facts.step.metric,
    lr: facts.lr,
    epoch: exchange.epoch,
    method: exchange.method,
    collective: exchange.collective,
  };
}
