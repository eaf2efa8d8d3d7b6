import { expect, test } from 'vitest';
import { locatedError } from '../../../src/agent/worker/located-error.ts';

const addresses = [{ node: 'here' }, { node: 'box' }];
const error = (more: object) =>
  ({ code: 'C', kind: 'failure', message: 'm', ...more }) as const;

test.each([
  ['the machine of the rank that is blamed', { rank: 1 }, { rank: 1, place: 'box' }],
  ['its own where none is', {}, { rank: 0, place: 'here' }],
  [
    'in place of a rank’s name',
    { rank: 1, place: 'rank 1' },
    { rank: 1, place: 'box' },
  ],
  [
    'before a place within the rank',
    { rank: 1, place: 'stream 3, exchange 12' },
    { rank: 1, place: 'box, stream 3, exchange 12' },
  ],
  ['once', { rank: 1, place: 'box, stream 3' }, { rank: 1, place: 'box, stream 3' }],
])('in a run over several machines the place is %s', (_, given, expected) => {
  expect(locatedError(error(given), 0, addresses)).toEqual(error(expected));
});

test('this computer has one name in texts, whatever it is called', () => {
  const spread = [{ node: 'this-computer' }, { node: 'box' }];
  const place = 'this computer';
  expect(locatedError(error({}), 0, spread)).toEqual(error({ rank: 0, place }));
  expect(locatedError(error({ place: 'stream 3' }), 0, spread)).toEqual(
    error({ rank: 0, place: `${place}, stream 3` }),
  );
  expect(locatedError(error({ place: `${place}, stream 3` }), 0, spread)).toEqual(
    error({ rank: 0, place: `${place}, stream 3` }),
  );
  expect(locatedError(error({ rank: 1 }), 0, spread)).toEqual(
    error({ rank: 1, place: 'box' }),
  );
  const launcher = error({ code: 'LAUNCHER_FAILED' });
  expect(locatedError(launcher, 0, spread)).toEqual({ ...launcher, place });
});

test('a launcher is no rank: only its machine is named', () => {
  const launcher = error({ code: 'LAUNCHER_FAILED' });
  expect(locatedError(launcher, 1, addresses)).toEqual({ ...launcher, place: 'box' });
  expect(locatedError(launcher, 1)).toEqual(launcher);
});

test('on one machine it is the rank, and other places stay', () => {
  expect(locatedError(error({}), 2)).toEqual(error({ rank: 2, place: 'rank 2' }));
  expect(locatedError(error({ place: 'a file' }), 2, [{}, {}, {}])).toEqual(
    error({ rank: 2, place: 'a file' }),
  );
});
