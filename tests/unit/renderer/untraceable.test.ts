/** Runs that the page offers no trace of: those that the supervisor refuses, for its reason. */
import { describe, expect, test } from 'vitest';
import { requireTraceable } from '../../../src/agent/supervisor/runs/traceable.ts';
import { applySettings } from '../../../src/main/spec/settings.ts';
import { loadSpecSource } from '../../../src/main/spec/spec-source.ts';
import { untraceableCause } from '../../../src/shared/spec/untraceable.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../../src/shared/spec/experiment-spec.ts';

/** Checks what the page says of a run against what the supervisor does with an order. */
function hasItsReason(spec: ExperimentSpec, isTraceable: boolean): void {
  const cause = untraceableCause(spec);
  expect(cause === undefined).toBe(isTraceable);
  const order = () => requireTraceable(spec);
  if (cause === undefined) expect(order).not.toThrow();
  else expect(order).toThrow(`this run cannot be traced yet: ${cause}`);
}

const SPECS: readonly (readonly [string, readonly string[], boolean])[] = [
  ['synchronous', [], true],
  ['local steps', ['parallelism.kind=local-steps', 'parallelism.every=2'], true],
  ['asynchronous', ['parallelism.kind=asynchronous'], false],
  ['pipeline', ['world.ranks=2', 'parallelism.pipeline.splitAfter=["layer1"]'], false],
  ['variance reduction', ['optimizer.fullGradientEvery=10'], false],
];

describe.each(SPECS)('%s', (_name, settings, isTraceable) => {
  test('is offered as the supervisor takes it', async () => {
    const { raw } = await loadSpecSource('quickstart');
    hasItsReason(parseExperimentSpec(applySettings(raw, settings)), isTraceable);
  });
});

test.each([false, true])('a program of one’s own, observed: %s', (observe) => {
  const workload = {
    command: ['python3', 'train.py'],
    ...(observe ? { observe } : {}),
  };
  hasItsReason(parseExperimentSpec({ workload, world: { ranks: 2 } }), true);
});
