/** The end of the app while a sweep waits for an answer to a question of SSH. */
import { expect, test } from 'vitest';
import { OpenQuestions } from '../../../src/main/app/open-questions.ts';
import { SweepDesk } from '../../../src/main/app/sweep-desk.ts';
import { failure } from '../../../src/shared/errors/errors.ts';

test('leaves the sweep as it is, and does not wait', async () => {
  const questions = new OpenQuestions(() => undefined);
  const stops: unknown[] = [];
  const sweeps = {
    waiting: () => ['s'],
    version: () => '1',
    claim: () => true,
    drives: () => true,
    release: () => undefined,
    live: () => ['r'],
    summary: () => ({ atOnce: 1, state: 'running', name: 's' }),
    stop: (...given: unknown[]) => stops.push(given),
  };
  const follow = async (): Promise<void> => {
    const secrets = { host: 'box', port: 22, user: 'ada', prompts: [] };
    await questions.secrets({ ...secrets, kind: 'password' } as never);
    throw failure('SSH_AUTH_CANCELLED', 'refused');
  };
  const desk = new SweepDesk({
    store: { sweeps, summary: () => ({ state: 'running' }) },
    coordinator: { following: { follow } },
    outbox: { sweepsChanged: () => undefined },
    report: (error: unknown) => stops.push(error),
  } as never);
  desk.begin();
  await expect.poll(() => questions.list()).toHaveLength(1);
  // As the app's core does.
  const left = desk.close();
  questions.refuseAll();
  await left;
  expect(stops).toEqual([]);
});
