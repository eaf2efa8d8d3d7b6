/** Any thrown value as an error with a code. */
import { expect, test } from 'vitest';
import { failure, toErrorData } from '../../../src/shared/errors/errors.ts';

test('an error that has a code keeps all that it says', () => {
  const error = failure('RUN_ENDED', 'the run ended', { rank: 2, next: 'Go on.' });
  expect(toErrorData(error)).toEqual(error.toData());
  // As it arrives from another process.
  const answer = error.toData();
  expect(toErrorData(answer)).toBe(answer);
});

test('any other value is an internal error, whatever code it brings', () => {
  const ofNode = Object.assign(new Error('odd'), { code: 'ERR_ODD' });
  for (const thrown of [ofNode, new Error('odd'), 'odd', { code: 7, message: 'odd' }]) {
    expect(toErrorData(thrown)).toMatchObject({ code: 'INTERNAL', kind: 'failure' });
  }
});
