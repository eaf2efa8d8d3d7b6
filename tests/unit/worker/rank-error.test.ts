import { expect, test } from 'vitest';
import { failure } from '../../../src/shared/errors/errors.ts';
import { rankError } from '../../../src/agent/worker/trainers/rank-error.ts';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test.each<[string, () => unknown]>([
  ['WebAssembly', () => new WebAssembly.Memory({ initial: 1, maximum: 2 }).grow(10)],
  ['an array', () => new Float32Array(2 ** 40)],
  [
    'jax-js',
    () => {
      throw new RangeError('Allocation exceeds the 4 GiB memory32 limit');
    },
  ],
])('memory that %s does not give is named', (_what, work) => {
  expect(rankError(thrownBy(work))).toMatchObject({
    code: 'MEMORY_EXHAUSTED',
    next: expect.stringContaining('batchPerRank') as string,
  });
});

test('any other error stays what it is', () => {
  expect(rankError(new RangeError('Invalid count value: -1'))).toMatchObject({
    code: 'INTERNAL',
  });
  const coded = failure('LOSS_NOT_FINITE', 'the loss is NaN', { rank: 2 });
  expect(rankError(coded)).toEqual(coded.toData());
});
