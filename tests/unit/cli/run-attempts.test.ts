import { expect, test, vi } from 'vitest';
import {
  startedAtLast,
  type Unstarted,
} from '../../../src/cli/session/run-attempts.ts';
import { failure } from '../../../src/shared/errors/errors.ts';

const unstarted: Unstarted = {
  unstarted: failure('RANK_NOT_STARTED', 'rank 1 did not start', {
    next: 'Try again.',
  }).toData(),
};
const ended = { run: 'a' };

test('a run whose ranks start late is begun anew', async () => {
  const attempt = vi
    .fn<() => Promise<typeof ended | Unstarted>>()
    .mockResolvedValueOnce(unstarted)
    .mockResolvedValueOnce(unstarted)
    .mockResolvedValue(ended);
  expect(await startedAtLast(attempt)).toBe(ended);
  expect(attempt).toHaveBeenCalledTimes(3);
});

test('the third time it fails by that', async () => {
  const attempt = vi.fn<() => Promise<Unstarted>>().mockResolvedValue(unstarted);
  await expect(startedAtLast(attempt)).rejects.toMatchObject(unstarted.unstarted);
  expect(attempt).toHaveBeenCalledTimes(3);
});
