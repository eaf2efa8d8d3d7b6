/** Names that a program logs: some are shown, and some may be a slip. */
import { expect, test } from 'vitest';
import { LoggedValues } from '../../../src/agent/worker/steps/logged-values.ts';
import type { Stepped } from '../../../src/agent/bridge/messages.ts';
import type { Notice } from '../../../src/shared/records/notice.ts';

const stepped = (values: Record<string, number>): Stepped => ({ values }) as Stepped;

test('a misspelt name is told once, with the one that was meant', () => {
  const notices: Notice[] = [];
  const logged = new LoggedValues((notice) => notices.push(notice));
  expect(logged.of(stepped({ los: 1, accuracy: 0.5 }), 0)).toMatchObject({
    loss: undefined,
    metric: 0.5,
  });
  logged.of(stepped({ los: 1 }), 1);
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatchObject({ code: 'LOGGED_UNKNOWN' });
  expect(notices[0]!.message).toMatch(/"los".*did it mean loss\?/);
});

test('a new name in every step does not flood the run', () => {
  const notices: Notice[] = [];
  const logged = new LoggedValues((notice) => notices.push(notice));
  for (let step = 0; step < 100; step++) logged.of(stepped({ [`x${step}`]: 1 }), step);
  expect(notices).toHaveLength(8);
  expect(logged.of(stepped({ loss: 2 }), 100).loss).toBe(2);
});

test('a loss that is read from a printed line says so, with the line', () => {
  const notices: Notice[] = [];
  const logged = new LoggedValues((notice) => notices.push(notice));
  const printed = 'step 0 loss 1.5389';
  expect(logged.of({ ...stepped({ loss: 1.5389 }), printed }, 0).loss).toBe(1.5389);
  expect(logged.of(stepped({ loss: 1.5 }), 1).loss).toBe(1.5);
  expect(notices).toEqual([
    {
      level: 'info',
      code: 'LOSS_PRINTED',
      message: 'the loss is read from what the program prints: "step 0 loss 1.5389"',
    },
  ]);
});
