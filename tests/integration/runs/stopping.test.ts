/** How long a run may take to stop: a real supervisor with ranks that take their time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endOf, ScriptedNode } from './scripted-node.ts';

let node: ScriptedNode;
beforeAll(async () => {
  node = await ScriptedNode.start();
});
afterAll(() => node.close());

async function stopRun(name: string, patienceSeconds: number) {
  const entries = await node.launch(name, { patienceSeconds });
  await node.connection.request('stop', { run: name }, 40_000);
  return endOf(entries);
}

test('a stop waits for ranks that say nothing for as long as ranks are patient', async () => {
  expect(await stopRun('quiet-for-long', 600)).toMatchObject({
    type: 'done',
    reason: 'stopped',
  });
});

test('a stop waits longer than that for ranks that go on reporting', async () => {
  expect(await stopRun('records-on', 1)).toMatchObject({
    type: 'done',
    reason: 'stopped',
  });
});

test('ranks that say nothing for longer are given up', async () => {
  expect(await stopRun('never', 0.5)).toMatchObject({
    type: 'failed',
    error: {
      code: 'STOP_TIMEOUT',
      message: 'asked to stop, the ranks reported nothing for 0.5 s',
      next: expect.stringContaining('patienceSeconds') as string,
    },
  });
});
