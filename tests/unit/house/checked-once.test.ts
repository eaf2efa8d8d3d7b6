/**
 * A spec is parsed where it enters a process, and a launch is checked once for each request
 * (docs/decisions/104): behind these doors a type says that it has been done.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';
import {
  parseExperimentSpec,
  type ParsedSpec,
} from '../../../src/shared/spec/experiment-spec.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';

const root = path.join(import.meta.dirname, '../../../src');

/** The calls of a function in each file that calls it. */
const callsOf = (name: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    globSync('**/*.{ts,svelte}', { cwd: root })
      .toSorted()
      .flatMap((file) => {
        const text = readFileSync(path.join(root, file), 'utf8');
        const { length } =
          text.match(new RegExp(`(?<!function )\\b${name}\\(`, 'g')) ?? [];
        return length > 0 ? [[file, length]] : [];
      }),
  );

it('specs are parsed at the doors of processes alone', () => {
  expect(callsOf('parseExperimentSpec')).toEqual({
    // Functions of the package take specs from anywhere.
    'agent/forecast/forecast-spec.ts': 1,
    'agent/forecast/layer-rates.ts': 2,
    'agent/forecast/spec-memory.ts': 3,
    // A question to the forecaster.
    'agent/forecast/forecaster.ts': 1,
    // The control socket's requests `validate` and `prepare`; runs found on disk.
    'agent/supervisor/door/client-session.ts': 2,
    'agent/supervisor/runs/run-table.ts': 1,
    // What a user gives a command.
    'cli/commands/exec.ts': 1,
    'cli/commands/plan.ts': 1,
    'cli/commands/run.ts': 1,
    'cli/commands/runs-relaunch.ts': 1,
    // What a page gives; presets; the history; a spec that its files have changed.
    'main/app/app-core.ts': 2,
    'main/app/plan-desk.ts': 1,
    'main/plan/compute-time.ts': 1,
    'main/runs/run-launches.ts': 1,
    'main/spec/spec-source.ts': 2,
    // A run of a queue, from the history.
    'main/sweeps/sweep-runner.ts': 1,
    'reproduce/planned-runs.ts': 1,
    // Each point of what a user has written, and the name and seed that no point has.
    'shared/sweep/sweep-points.ts': 2,
  });
});

it('launches are checked once for each request, and when a run is found on disk', () => {
  const { 'agent/supervisor/door/client-session.ts': validate, ...others } =
    callsOf('validateLaunch');
  expect(validate).toBe(1);
  expect(others).toEqual({
    'agent/forecast/forecast-spec.ts': 1,
    'agent/forecast/layer-rates.ts': 2,
    'agent/forecast/spec-memory.ts': 1,
    'agent/supervisor/runs/run-table.ts': 2, // created, found
  });
});

it('only the parser makes a parsed spec, and only the check makes a launch', () => {
  const raw = { workload: { model: 'fnn3', dataset: 'digits' } };
  const parsed: ParsedSpec = parseExperimentSpec(raw);
  const launch: ReturnType<typeof validateLaunch> = checkedLaunch(raw);
  // @ts-expect-error: a copy is no longer what was parsed
  const changed: ParsedSpec = { ...parsed, iterations: -1 };
  // @ts-expect-error: a copy is no longer what was checked
  const another: typeof launch = { ...launch, switches: [] };
  expect([changed.iterations, another.switches]).toEqual([-1, []]);
});
