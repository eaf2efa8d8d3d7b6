/** A switch asked for in mid-run while another one is scheduled for later. */
import { expect, it } from 'vitest';
import type { RunRecord } from '../../../src/shared/records.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

it('changes the plan in force, not the one that is scheduled', async () => {
  await using home = new GradwireHome();
  const settings = ['--set', 'world.ranks=2', '--set', 'iterations=100000'];
  const schedule = ['--switch', '90000:method=topk,ratio=0.01'];
  const command = home.start(['run', 'quickstart', '--json', ...settings, ...schedule]);
  await command.record((record): record is RunRecord => record.type === 'iteration');
  // The ring takes dense payloads: fine now, a misfit under the top-k of later.
  const { code, stderr } = await home.run([
    'runs',
    'switch',
    'last',
    'collective=ring',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const done = await command.record(
    (record): record is Extract<RunRecord, { type: 'switch' }> =>
      record.type === 'switch',
  );
  expect(done.to).toMatchObject({ method: 'none', collective: 'ring' });
  await home.run(['runs', 'stop', 'last']);
  expect((await command.finished).code).toBe(0);
});
