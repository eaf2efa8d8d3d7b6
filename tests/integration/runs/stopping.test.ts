/** Stopping a run: a real supervisor with ranks that take their time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import { launchScript, startScriptedNode } from './scripted-node.ts';
import { endOf, type SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await startScriptedNode();
});
afterAll(() => node[Symbol.asyncDispose]());

async function stopRun(name: string, patienceSeconds: number) {
  const entries = await launchScript(node, name, { patienceSeconds });
  await node.connection.request('stop', { run: name }, 40_000);
  return endOf(entries);
}

test('a run that is prepared ends at once, with all of its ranks, and never begins', async () => {
  const spec = sampleSpec({ name: 'prepared' });
  const { entries, begin } = await node.prepare('prepared', spec);
  expect(node.workers('prepared')).toHaveLength(2);
  await node.connection.request('stop', { run: 'prepared' }, 40_000);
  expect(node.workers('prepared')).toEqual([]);
  expect(await endOf(entries)).toMatchObject({ error: { code: 'RUN_STOPPED' } });
  await expect(begin()).rejects.toMatchObject({ code: 'RUN_STATE' });
});

test(
  'a stop waits for ranks that say nothing for as long as ranks are patient',
  { tags: 'soak' },
  async () => {
    expect(await stopRun('quiet-for-long', 600)).toMatchObject({
      type: 'done',
      reason: 'stopped',
    });
  },
);

test(
  'a stop waits longer than that for ranks that go on reporting',
  { tags: 'soak' },
  async () => {
    expect(await stopRun('records-on', 1)).toMatchObject({
      type: 'done',
      reason: 'stopped',
    });
  },
);

test('ranks that say nothing for longer are given up, however often a stop is asked for', async () => {
  const entries = await launchScript(node, 'never', { patienceSeconds: 1.5 });
  const ask = (): void => {
    node.connection.request('stop', { run: 'never' }, 40_000).catch(() => undefined);
  };
  ask();
  const again = setInterval(ask, 300);
  const end = await endOf(entries);
  clearInterval(again);
  expect(end).toMatchObject({
    type: 'failed',
    error: {
      code: 'STOP_TIMEOUT',
      message: 'after the request to stop, the ranks reported nothing for 1.5 s',
      next: expect.stringContaining('patienceSeconds') as string,
    },
  });
});
