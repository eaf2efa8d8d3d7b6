/** Compared runs, made from the few facts that a test is about. */
import type { ComparedRun } from '../../../src/shared/comparison/compared-run.ts';
import { ACCURACY } from '../../../src/shared/records/metric.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

export interface SampleFacts {
  readonly method?: string;
  readonly seed?: number;
  /** Milliseconds of each iteration. */
  readonly walls?: readonly number[];
  readonly sent?: number;
  /** Accuracy by iterations done. */
  readonly accuracy?: Readonly<Record<number, number>>;
  readonly loss?: readonly (number | null)[];
  readonly state?: ComparedRun['state'];
  readonly spec?: Record<string, unknown>;
  readonly more?: Partial<ComparedRun>;
}

let made = 0;

export function sampleRun({
  accuracy = {},
  loss,
  method = 'none',
  more = {},
  seed = 1,
  sent = 1000,
  spec = {},
  state = 'completed',
  walls = Array.from({ length: 10 }, () => 2),
}: SampleFacts = {}): ComparedRun {
  made += 1;
  let [time, bytes] = [0, 0];
  return {
    id: `run${made}`,
    name: `run ${made}`,
    state,
    // One after the other.
    createdAt: made * 1000,
    startedAt: made * 1000,
    endedAt: made * 1000 + 500,
    nodes: ['this-computer'],
    iterations: walls.length,
    spec: parseExperimentSpec({
      workload: { model: 'fnn3', dataset: 'digits' },
      exchange: { method },
      seed,
      ...spec,
    }),
    plan: method,
    switches: [],
    metricKind: ACCURACY,
    iterationsPerPass: 5,
    isDiverged: false,
    interruptions: 0,
    missing: [],
    curve: {
      width: 1,
      ends: walls.map((_, index) => index + 1),
      time: walls.map((wall) => (time += wall)),
      bytes: walls.map(() => (bytes += sent)),
      loss: loss ?? walls.map(() => null),
      metric: walls.map(() => null),
    },
    observations: Object.entries(accuracy).map(([iterations, metric]) => ({
      iterations: Number(iterations),
      metric,
    })),
    step: {
      wall: time / walls.length,
      phases: { compute: time / walls.length },
      overlapped: 0,
      sent,
    },
    ...more,
  };
}

/** Runs of a method that reach 90 % after 10 iterations that take this long together, by seed. */
export const runsOf = (method: string, times: readonly number[]): ComparedRun[] =>
  times.map((time, index) =>
    sampleRun({
      method,
      seed: index + 1,
      walls: Array.from({ length: 10 }, () => time / 10),
      accuracy: { 5: 0.5, 10: 0.9 },
    }),
  );
