/**
 * One run over this computer and a machine reached by SSH, whose connection is cut at random
 * moments, again and again: every record of every rank arrives, once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seed } from '../harness/effort.ts';
import { GradwireHome } from '../harness/gradwire.ts';
import { SshServer } from '../harness/sshd.ts';
import { ofType } from '../harness/records.ts';

const CUTS = Number(process.env['GRADWIRE_SOAK_CUTS'] ?? 50);
const RANKS = 4;

/** Numbers from 0 to 1 that the seed repeats (mulberry32). */
function draws(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(`${CUTS} cuts lose no record and repeat none`, async () => {
  const draw = draws(seed);
  await using server = await SshServer.start();
  await using home = new GradwireHome();
  const nodes = (...args: string[]) => home.run(['nodes', ...args]);
  const host = ['--host', '127.0.0.1', '--port', String(server.port)];
  await nodes('add', 'box', ...host, '--identity', server.key);
  const checked = await nodes(
    ...['check', 'box', '--accept-host-key', server.fingerprint()],
  );
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  const command = home.startQuickstart([
    ...['world.nodes=[this-computer, box]', 'iterations=1000000', 'evaluateEvery=0'],
  ]);
  await command.record('iteration');
  for (let cut = 0; cut < CUTS; cut++) {
    await pause(2000 * draw());
    await server.cutSessions();
    // Some last longer than the first attempts to connect again.
    if (draw() < 0.2) {
      await server.stop();
      await pause(2000 * draw());
      await server.start();
    }
  }
  const stopped = await home.run(['runs', 'stop', 'last']);
  expect(stopped).toMatchObject({ code: 0 });
  await command.finished;
  const { records } = command;
  const iterations = ofType(records, 'iteration');
  const last = records.at(-1);
  expect(last).toMatchObject({ type: 'done', reason: 'stopped', consistent: true });
  for (let rank = 0; rank < RANKS; rank++) {
    const own = iterations.filter((record) => record.rank === rank);
    const numbers = own.map(({ iteration }) => iteration).toSorted((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(numbers.length).toBe((last as { iterations: number }).iterations);
  }
});
