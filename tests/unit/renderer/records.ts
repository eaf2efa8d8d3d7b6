/** Iteration records for the renderer's tests, every number of them told by the test. */
import {
  sumPhases,
  zeroTimes,
  type PhaseTimes,
} from '../../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';

export interface RecordShape {
  readonly rank: number;
  readonly iteration: number;
  readonly phases?: Partial<PhaseTimes>;
  readonly waitedFor?: Record<string, number>;
  readonly overlapped?: number;
  readonly dense?: number;
  readonly wireSent?: number;
  readonly nnzLocal?: number;
  readonly nnzReduced?: number;
  readonly density?: number;
  readonly loss?: number;
  readonly at?: number;
}

/** A valid record: its wall time is the sum of its phases. */
export function iterationRecord(shape: RecordShape): IterationRecord {
  const phases = { ...zeroTimes(), ...shape.phases };
  const wall = sumPhases(phases);
  const sent = shape.wireSent ?? 1200;
  return {
    type: 'iteration',
    rank: shape.rank,
    iteration: shape.iteration,
    at: shape.at ?? 1000 + 10 * shape.iteration,
    wall,
    phases,
    ...(shape.waitedFor === undefined ? {} : { waitedFor: shape.waitedFor }),
    overlapped: shape.overlapped ?? 0,
    bytes: {
      dense: shape.dense ?? 4000,
      payload: sent - 40,
      wireSent: sent,
      wireReceived: sent,
      framingSent: 40,
      framingReceived: 40,
    },
    ...(shape.nnzLocal === undefined ? {} : { nnzLocal: shape.nnzLocal }),
    ...(shape.nnzReduced === undefined ? {} : { nnzReduced: shape.nnzReduced }),
    ...(shape.density === undefined ? {} : { density: shape.density }),
    loss: shape.loss ?? 1,
    lr: 0.05,
    epoch: 0,
    method: 'none',
    collective: 'ring',
  };
}
