/** Data that has to be read whole before a run: the supervisor answers others meanwhile. */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { until } from '../../harness/processes.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const specOf = (data: string) =>
  parseExperimentSpec({
    workload: {
      model: 'logistic-regression',
      dataset: 'svmlight',
      data,
      batchPerRank: 2,
    },
    ...{ iterations: 2, evaluateEvery: 0, world: { ranks: 1 } },
  });

function samples(lines: readonly string[]): string {
  const file = path.join(node.home.directory, 'samples.txt');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

const some = Array.from({ length: 40 }, (_, i) => `${i % 2 ? '+1' : '-1'} ${1 + i}:1`);

it('does not block other clients', async () => {
  const order: string[] = [];
  const { connection } = node;
  const validated = connection
    .request('validate', { spec: specOf(samples(some)) })
    .then((reply) => {
      order.push('validate');
      return reply;
    });
  // Asked later, answered first: had the supervisor read the file, it could not.
  await connection.request('runs', {}).then(() => order.push('runs'));
  const { spec } = await validated;
  expect(order).toEqual(['runs', 'validate']);
  expect(spec.workload.features).toBe(41);
});

it('may be stopped: the run never begins', async () => {
  const { connection } = node;
  const spec = specOf(samples(some));
  const secret = new Uint8Array(32);
  const prepared = connection.request('prepare', {
    run: 'hasty',
    spec,
    switches: [],
    ranks: [0],
    secret,
  });
  await connection.request('stop', { run: 'hasty' });
  await expect(prepared).rejects.toMatchObject({
    code: 'RUN_STOPPED',
    message: 'the run was stopped before it started',
  });
  const { runs } = await connection.request('runs', {});
  expect(runs.map(({ run }) => run)).not.toContain('hasty');
});

it('without a test part is trained on, and nothing is measured that is not there', async () => {
  const spec = { ...specOf(samples(some.slice(0, 8))), evaluateEvery: 1 };
  const { begin, entries } = await node.prepare('untested', spec);
  await begin();
  await expect
    .poll(() => entries.at(-1)?.record, { timeout: 120_000 })
    .toMatchObject({ type: 'done', iterations: 2 });
  const records = entries.map(({ record }) => record);
  expect(records).toContainEqual(
    expect.objectContaining({
      type: 'notice',
      message: expect.stringMatching(
        /^8 samples to train, 0 to test; nothing is measured on a test set\. /,
      ) as string,
    }),
  );
  const evaluations = records.filter(({ type }) => type === 'evaluation');
  expect(evaluations.length).toBeGreaterThan(0);
  for (const evaluation of evaluations) {
    expect(evaluation).toMatchObject({ samples: 0 });
    expect(evaluation).not.toHaveProperty('loss');
    expect(evaluation).not.toHaveProperty('metric');
  }
  // That was reported as divergence.
  expect(records.filter(({ type }) => type === 'notice')).not.toContainEqual(
    expect.objectContaining({ code: 'EVALUATION_NOT_FINITE' }),
  );
});

it('is not read again by a run that is under way', async () => {
  const file = samples(some);
  const { begin, entries } = await node.prepare('gone', specOf(file));
  rmSync(file);
  await begin();
  await expect
    .poll(() => entries.at(-1)?.record, { timeout: 120_000 })
    .toMatchObject({ type: 'done', iterations: 2 });
});

it('is read once for all who ask, and again when it has changed', async () => {
  const { connection } = node;
  const file = samples(some);
  const written = (content: string, seconds: number): void => {
    writeFileSync(file, content);
    utimesSync(file, seconds, seconds);
  };
  const text = readFileSync(file, 'utf8');
  written(text, 1000);
  const featuresOf = async (batchPerRank: number) => {
    const spec = specOf(file);
    const workload = { ...spec.workload, batchPerRank };
    const asked = { spec: { ...spec, workload } };
    return (await connection.request('validate', asked)).spec.workload.features;
  };
  expect(await Promise.all([1, 2, 3].map(featuresOf))).toEqual([41, 41, 41]);
  // As it was to whoever looks at names, sizes, times and inodes: not read again.
  written(text.replace('40:1', '90:1'), 1000);
  expect(await featuresOf(4)).toBe(41);
  written(text.replace('40:1', '80:1'), 1001);
  expect(await featuresOf(5)).toBe(81);
});

it('is read once by the check and by the run that follows', async () => {
  const { connection } = node;
  const file = samples([...some, '+1 60:1']);
  utimesSync(file, 1000, 1000);
  const { spec } = await connection.request('validate', { spec: specOf(file) });
  // To whoever looks at its stamp it is the same: had it been read again, it would be refused.
  const { size } = statSync(file);
  writeFileSync(file, 'x'.repeat(size));
  utimesSync(file, 1000, 1000);
  const again = await connection.request('validate', { spec });
  expect(again.spec.workload.features).toBe(61);
});

it('is refused with its place where it is wrong', async () => {
  const file = samples([...some, '+1 three:1']);
  await expect(
    node.connection.request('validate', { spec: specOf(file) }),
  ).rejects.toMatchObject({
    code: 'DATA_MISMATCH',
    message: expect.stringContaining('line 41') as string,
  });
});

it('stops reading when the supervisor is gone', { tags: 'soak' }, async () => {
  const other = await SupervisorNode.start();
  try {
    const file = path.join(other.home.directory, 'endless.csv');
    const large = Array.from({ length: 2_000_000 }, (_, i) => `${i % 2},${i},a${i}`);
    writeFileSync(file, ['label,number,word', ...large].join('\n'));
    const spec = parseExperimentSpec({
      workload: { model: 'dlrm-small', dataset: 'csv', data: file, batchPerRank: 2 },
      ...{ iterations: 2, world: { ranks: 1 } },
    });
    other.connection.request('validate', { spec }).catch(() => undefined);
    const reading = () => other.home.processes('inspector.js');
    await until(reading, ({ length }) => length === 1, 'somebody to read');
    await other.kill();
    await until(reading, ({ length }) => length === 0, 'nobody to read');
  } finally {
    await other[Symbol.asyncDispose]();
  }
});
