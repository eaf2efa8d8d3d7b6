/** `gradwire compare`, over runs whose records are known. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readComparedRun } from '../../../src/main/compare/read-run.ts';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import {
  compareRuns,
  type Comparison,
} from '../../../src/shared/comparison/comparison.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { recordTrainedRun } from '../../harness/trained-run.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const IDS = ['dense1', 'dense2', 'dense3', 'topk1', 'topk2', 'topk3'];
const COMPARED = ['compare', ...IDS, '--target', '80%'];
let expected: Comparison;

beforeAll(async () => {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  for (const [index, id] of IDS.entries()) {
    const method = id.slice(0, -1) === 'dense' ? 'none' : 'topk';
    const wall = (method === 'none' ? 9 : 3) + 0.1 * index;
    recordTrainedRun(store, id, { method, seed: (index % 3) + 1, wall });
  }
  expected = compareRuns(
    IDS.map((id) => readComparedRun(store, id)),
    { target: 0.8 },
  );
  store.close();
});

test('prints the verdict and the tables, and the same numbers as JSON', async () => {
  const { stderr, stdout } = succeeded(await home.run([...COMPARED]));
  expect(stderr).toBe('');
  expect(stdout.split('\n')[0]).toBe(expected.verdict.text);
  expect(stdout).toMatch(
    /^topk reaches accuracy 80 % 2\.\d\d× as fast as none \(95 % interval/,
  );
  // 80 % after 40 iterations of a mean of 9.1 and 3.4 ms.
  expect(stdout).toMatch(/^1 {2}none +3 +3 +3\/3 +40 +2\.00 +364 ms +/m);
  expect(stdout).toMatch(/^2 {2}topk +3 +3 +3\/3 +40 +2\.00 +136 ms +/m);
  expect(stdout).toMatch(/^plan +none +topk$/m);
  const json = succeeded(await home.run([...COMPARED, '--json'])).stdout;
  expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(expected)));
});

test('takes a quantity, a target, a cost and a baseline, and writes CSV', async () => {
  const file = path.join(home.directory, 'curves.csv');
  const { stdout } = succeeded(
    await commands.run([
      ...['compare', ...IDS, '--of', 'training-loss', '--target', '50%'],
      ...['--by', 'bytes', '--baseline', 'topk1', '--csv', 'curves', '--out', file],
    ]),
  );
  expect(stdout).toBe('');
  const [head, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(head).toBe(
    'group,run,seed,iterations,passes,time_ms,sent_bytes,training-loss',
  );
  expect(rows).toHaveLength(IDS.length * 50);
  const results = succeeded(
    await commands.run([...COMPARED, '--baseline', 'topk1', '--csv', 'results']),
  ).stdout;
  expect(results).toMatch(/^none,dense1,.*,metric,0\.8,reached,40,2,36\d\.?\d*,/m);
});

test('refuses what it cannot compare, each with one clear error', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr, stdout } = await commands.run(['compare', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  expect(await refused('dense1', 'nowhere')).toContain('RUN_UNKNOWN');
  expect(await refused('dense1', '--target', 'fast')).toMatch(
    /TARGET_INVALID: the target "fast" is not a number .*such as 0\.9/,
  );
  expect(await refused('dense1', 'topk1', '--baseline', 'topk2')).toMatch(
    /BASELINE_NOT_COMPARED: run topk2 is not compared/,
  );
  expect(await refused('dense1', '--of', 'training-metric')).toMatch(
    /QUANTITY_NOT_OBSERVED.*Choose one of: metric, training-loss/,
  );
});
