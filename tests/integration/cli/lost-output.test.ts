/** Commands whose error output nobody takes any more, as after Ctrl-C in `gradwire … 2>&1 | tee log`. */
import { afterAll, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const LOST = { shell: 'exec 2>/dev/full' };
const LONG = ['--set', 'iterations=100000', '--set', 'world.ranks=1'];

test('a run is stopped all the same', async () => {
  const command = home.start(['run', 'quickstart', '--json', ...LONG], LOST);
  await command.record('iteration');
  command.child.kill('SIGINT');
  expect((await command.finished).code).toBe(130);
  expect(await command.record('done')).toMatchObject({ reason: 'stopped' });
});

test('wrong input has its exit code', async () => {
  expect((await home.start(['frobnicate'], LOST).finished).code).toBe(2);
});

test('a server ends, and says nothing of the run that goes on', async () => {
  succeeded(await home.run(['run', 'quickstart', '--detach', ...LONG]));
  const server = home.start(['serve', '--no-open'], LOST);
  await new Promise((resolve) => server.child.stdout!.once('data', resolve));
  server.child.kill('SIGTERM');
  expect((await server.finished).code).toBe(0);
  succeeded(await home.run(['runs', 'stop', 'last']));
});
