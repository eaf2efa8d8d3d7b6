import { expect, test } from 'vitest';
import { OwnWishes, wishes } from '../../../src/agent/exchange/wishes.ts';
import { MOST_TRACED } from '../../../src/shared/orders/trace.ts';

const NONE = { end: false, stop: false, pause: false, checkpoint: false, trace: 0 };

/** A rank with wishes, in this order. */
function wishing(...names: readonly (keyof typeof NONE)[]): OwnWishes {
  const own = new OwnWishes();
  for (const name of names) {
    if (name === 'trace') own.trace(MOST_TRACED);
    else own[name]();
  }
  return own;
}

test('each is told from all others, and none from the wish to go on', () => {
  expect(wishes(new OwnWishes().highest)).toEqual(NONE);
  for (const name of ['end', 'stop', 'pause', 'checkpoint'] as const) {
    expect(wishes(wishing(name).highest)).toEqual({ ...NONE, [name]: true });
  }
  expect(wishes(wishing('trace').highest)).toEqual({ ...NONE, trace: MOST_TRACED });
});

test.each([
  ['pause', 'stop'],
  ['stop', 'end'],
  ['end', 'checkpoint'],
  ['checkpoint', 'trace'],
] as const)(
  '%s comes before %s, in whatever order they are wished',
  (first, second) => {
    for (const own of [wishing(first, second), wishing(second, first)]) {
      expect(own.highest).toBe(wishing(first).highest);
    }
  },
);

test('what was agreed is wished no more; what had to wait is wished again', () => {
  const own = wishing('trace', 'checkpoint');
  expect(own.agreed(own.highest)).toEqual({ ...NONE, checkpoint: true });
  expect(own.agreed(own.highest)).toEqual({ ...NONE, trace: MOST_TRACED });
  expect(own.highest).toBe(new OwnWishes().highest);
});

test('the wish to end stays, as the ranks may meet once more', () => {
  const own = wishing('checkpoint', 'stop');
  expect(own.agreed(own.highest)).toEqual({ ...NONE, stop: true });
  expect(own.highest).toBe(wishing('stop').highest);
});
