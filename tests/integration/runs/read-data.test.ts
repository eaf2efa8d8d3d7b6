/** Data that has to be read whole before a run: the supervisor answers others meanwhile. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/experiment-spec.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const specOf = (data: string) =>
  parseExperimentSpec({
    workload: {
      ...{ model: 'logistic-regression', dataset: 'svmlight', data },
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

it('keeps nobody waiting', async () => {
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

it('is not read again by a run that is under way', async () => {
  const file = samples(some);
  const { begin, entries } = await node.prepare('gone', specOf(file));
  rmSync(file);
  await begin();
  await expect
    .poll(() => entries.at(-1)?.record, { timeout: 120_000 })
    .toMatchObject({ type: 'done', iterations: 2 });
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
