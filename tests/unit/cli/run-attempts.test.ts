import { describe, expect, test, vi } from 'vitest';
import {
  startedAtLast,
  undisturbedAtLast,
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

describe('a run beside other work', () => {
  const of = (others?: number) => ({
    run: 'a',
    ...(others === undefined ? {} : { others }),
  });

  test.each([
    ['none', [of(0.01)], 1],
    ['unknown', [of()], 1],
    ['some, once', [of(0.5), of(0.02)], 2],
    ['always', [of(0.5), of(0.4), of(0.3), of(0)], 3],
  ])('%s', async (_, ends, attempts) => {
    const left = [...ends];
    const attempt = vi.fn(() => Promise.resolve(left.shift()!));
    expect(await undisturbedAtLast(attempt)).toBe(ends[attempts - 1]);
    expect(attempt).toHaveBeenCalledTimes(attempts);
  });

  test('is not made again after an interruption', async () => {
    const attempt = vi.fn(() => Promise.resolve({ code: 130 }));
    expect(await undisturbedAtLast(attempt)).toEqual({ code: 130 });
    expect(attempt).toHaveBeenCalledTimes(1);
  });
});
