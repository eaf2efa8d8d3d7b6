import { expect, test } from 'vitest';
import { withOwnFiles } from '../../../src/main/spec/spec-source.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

test.each([
  ['venv/bin/python', '/home/me/venv/bin/python'],
  ['/opt/venv/bin/python', '/opt/venv/bin/python'],
  ['python3.12', 'python3.12'],
])('python: %s is %s for the agent', async (python, expected) => {
  const workload = { model: 'fnn3', dataset: 'digits' };
  const spec = parseExperimentSpec({ workload, backend: 'torch', python });
  expect((await withOwnFiles(spec, '/home/me')).python).toBe(expected);
});
