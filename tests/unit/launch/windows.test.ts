/** Launches whose gradient does not fit the arena: it has windows, or is refused with the numbers. */
import { describe, expect, it, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';

const BILLION = Array<number>(40).fill(25_000_000);

const launch = (layers: readonly number[], changes: object = {}) =>
  checkedLaunch({
    workload: {
      model: 'synthetic-gradient',
      dataset: 'none',
      batchPerRank: 1,
      synthetic: { layers: [...layers], computeMs: 1 },
    },
    iterations: 10,
    backend: 'wasm',
    exchange: { method: 'topk', ratio: 0.01 },
    world: { ranks: 2 },
    ...changes,
  });

const partsOf = (...given: Parameters<typeof launch>): Record<string, number> =>
  Object.fromEntries(
    launch(...given)
      .memory.ofRank(0)
      .map(({ bytes, name }) => [name, bytes]),
  );

describe('a billion elements', () => {
  it('have windows in the arena', () => {
    expect(partsOf(BILLION)).toMatchObject({
      gradient: 4e9,
      residual: 4e9,
      // Two of the longest bucket's gradient and residual, and the desk.
      windows: 4 * 4 * 25_000_000 + 2 ** 23,
    });
    expect(partsOf(BILLION, { exchange: { method: 'none' } })).toMatchObject({
      gradient: 4e9,
      windows: 5 * 4 * 25_000_000 + 2 ** 23,
    });
  });

  test.each([
    [{ compareEvery: 5 }, 'compareEvery'],
    [{ checkpointEvery: 5 }, 'checkpointEvery'],
    [{ onFailure: 'restart' }, 'onFailure'],
  ])('are refused with %j', (changes, place) => {
    expect(() => launch(BILLION, changes)).toThrow(
      expect.objectContaining({
        code: 'MEMORY_TOO_SMALL',
        kind: 'input',
        place,
        message: expect.stringMatching(
          /^a gradient of 1,000,000,000 elements \(4\.00 GB\) is exchanged in windows/,
        ),
      }),
    );
    expect(() => launch(BILLION.slice(30), changes)).not.toThrow();
  });

  it('are refused in two tensors, with the numbers', () => {
    expect(() => launch([5e8, 5e8])).toThrow(
      expect.objectContaining({
        code: 'MEMORY_TOO_SMALL',
        kind: 'input',
        place: 'workload.model',
        message:
          "gradient and residual need 8,000,000,000 bytes of a rank's arena, which has " +
          '4,294,901,760; and its windows have no room for the longest bucket ' +
          '(500,000,000 elements, layer2) beside what topk keeps and sends',
      }),
    );
  });

  it('are refused with a method that keeps as much besides', () => {
    expect(() => launch(BILLION, { exchange: { method: 'dgc' } })).toThrow(
      expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }),
    );
  });
});

it('a smaller gradient has none', () => {
  expect(partsOf(BILLION.slice(30))).not.toHaveProperty('windows');
});
