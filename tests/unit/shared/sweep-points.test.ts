/** Points of sweeps: what is combined, left out, named and refused. */
import { describe, expect, it } from 'vitest';
import { makeCatalogue } from '../../../src/agent/engine.ts';
import { parseSweep, seedsOf } from '../../../src/shared/sweep/sweep-definition.ts';
import { sweepPoints } from '../../../src/shared/sweep/sweep-points.ts';
import { runName } from '../../../src/shared/sweep/sweep-names.ts';

const { methods } = makeCatalogue();
const base = {
  name: 'digits',
  workload: { model: 'fnn3', dataset: 'digits' },
  exchange: { method: 'topk', ratio: 0.5, collective: 'auto' },
};
const expand = (more: object) => sweepPoints(parseSweep({ base, ...more }), methods);
const labels = (more: object): readonly string[] =>
  expand(more).points.map(({ label }) => label);

describe('points', () => {
  it('are all combinations, the last key fastest', () => {
    const grid = { 'world.ranks': [1, 2], 'optimizer.lr': [0.1, 0.2] };
    expect(labels({ grid })).toEqual([
      'ranks 1, lr 0.1',
      'ranks 1, lr 0.2',
      'ranks 2, lr 0.1',
      'ranks 2, lr 0.2',
    ]);
    const [, second] = expand({ grid }).points;
    expect(second!.spec).toMatchObject({ world: { ranks: 1 }, optimizer: { lr: 0.2 } });
  });

  it('leave out what their method does not have, and are then one', () => {
    const grid = {
      'exchange.ratio': [0.01, 0.1],
      'exchange.method': ['none', 'topk', 'qsgd'],
    };
    const { points } = expand({ grid });
    expect(points.map(({ spec }) => spec.exchange)).toMatchObject([
      { method: 'none' },
      { method: 'topk', ratio: 0.01 },
      { method: 'qsgd' },
      { method: 'topk', ratio: 0.1 },
    ]);
    expect(points[0]!.spec.exchange).not.toHaveProperty('ratio');
    expect(points[3]!.values).toEqual({
      'exchange.ratio': '0.1',
      'exchange.method': 'topk',
    });
  });

  it('of a list are combined with the grid; null removes a key', () => {
    expect(
      labels({
        list: [{ network: null }, { network: { bandwidth: '1 Gbit/s' } }],
        grid: { 'exchange.method': ['none', 'topk'] },
      }),
    ).toEqual([
      'network default, none',
      'network default, topk',
      'none, bandwidth 1 Gbit/s',
      'topk, bandwidth 1 Gbit/s',
    ]);
  });

  it('keep the parameters of the base only with its method', () => {
    const { points } = expand({ grid: { 'exchange.method': ['topk', 'randomk'] } });
    expect(points[0]!.spec.exchange).toHaveProperty('ratio', 0.5);
    expect(points[1]!.spec.exchange).not.toHaveProperty('ratio');
  });

  it('may be only one, with several seeds', () => {
    const { keys, name, points, seeds } = expand({ seeds: 3 });
    expect({ keys, name, seeds }).toEqual({
      keys: [],
      name: 'digits',
      seeds: [1, 2, 3],
    });
    expect(points.map(({ label }) => label)).toEqual(['']);
  });
});

it('seeds go on from that of the base', () => {
  const of = (seed: unknown, seeds: number | number[]): readonly number[] =>
    seedsOf(parseSweep({ base: { seed }, seeds }));
  expect(of(7, 3)).toEqual([7, 8, 9]);
  expect(of(0xffffffff, 2)).toEqual([0xffffffff, 0]);
  expect(of(undefined, [5, 1])).toEqual([5, 1]);
});

it('names of runs are never too long, and keep their seed', () => {
  expect(runName('a', 'topk', 3)).toBe('a: topk, seed 3');
  expect(runName('a', '', 3)).toBe('a: seed 3');
  const long = runName('a', `😀${'x'.repeat(113)}😀😀`, 12);
  expect(long.length).toBeLessThanOrEqual(120);
  expect(long).toMatch(/x…, seed 12$/);
});

describe('a sweep is refused', () => {
  it.each([
    [
      'a wrong value',
      { grid: { 'world.ranks': [2, 'x'] } },
      'SPEC_INVALID',
      /"x"/,
      'point 2: world.ranks x',
    ],
    [
      'an unknown key',
      { grid: { 'world.rank': [2] } },
      'SPEC_UNKNOWN_KEY',
      /world\.rank"/,
      'point 1: world.rank 2',
    ],
    [
      'a value twice',
      { grid: { 'world.ranks': [2, 2] } },
      'SWEEP_INVALID',
      /2 twice/,
      'grid',
    ],
    [
      'a number as its spec’s name',
      { base: { ...base, name: 123 } },
      'SPEC_INVALID',
      /"name" is 123/,
      'point 1',
    ],
    [
      'a text as its spec’s seed',
      { base: { ...base, seed: 'abc' } },
      'SPEC_INVALID',
      /"seed" is "abc"/,
      'point 1',
    ],
    ['a seed as a key', { grid: { seed: [1, 2] } }, 'SWEEP_INVALID', /"seed"/, 'grid'],
    [
      'a broken path',
      { grid: { 'world..ranks': [1] } },
      'SWEEP_INVALID',
      /world\.\.ranks/,
      'grid',
    ],
    [
      'a key of the prototype',
      { list: [{ 'world.__proto__': 1 }] },
      'SWEEP_INVALID',
      /__proto__/,
      'list, point 1',
    ],
    [
      'a key within a value',
      { grid: { 'workload.model.name': [1] } },
      'SWEEP_INVALID',
      /"workload\.model" has no keys/,
      'workload.model.name',
    ],
    [
      'a key in both',
      { grid: { seed2: [1] }, list: [{ seed2: 1 }] },
      'SWEEP_INVALID',
      /both in the grid/,
      'list, point 1',
    ],
    [
      'a parameter of no method',
      { grid: { 'exchange.method': ['none'], 'exchange.ratio': [0.1] } },
      'SWEEP_INVALID',
      /no method of the sweep/,
      'grid',
    ],
    [
      '501 runs',
      {
        grid: { iterations: Array.from({ length: 167 }, (_, at) => at + 1) },
        seeds: 3,
      },
      'SWEEP_TOO_LARGE',
      /167 points with 3 seeds/,
      undefined,
    ],
    [
      'an astronomic grid',
      {
        grid: Object.fromEntries(
          ['a', 'b', 'c', 'd'].map((key) => [
            key,
            Array.from({ length: 500 }, (_, at) => at),
          ]),
        ),
      },
      'SWEEP_TOO_LARGE',
      /combinations/,
      undefined,
    ],
  ])('with %s', (_, more, code, message, place) => {
    expect(() => expand(more)).toThrow(
      expect.objectContaining({
        code,
        kind: 'input',
        place,
        message: expect.stringMatching(message) as unknown,
      }),
    );
  });

  it.each([
    ['SWEEP_UNKNOWN_KEY', { gird: {} }],
    ['SWEEP_INVALID', { grid: { a: [] } }],
    ['SWEEP_INVALID', { seeds: [1, 1] }],
    ['SWEEP_INVALID', { seeds: 0 }],
    ['SWEEP_INVALID', { atOnce: 17 }],
    ['SWEEP_INVALID', { name: 'a "quoted" name' }],
    ['SWEEP_INVALID', { base: 'a text' }],
  ])('as %s: %j', (code, more) => {
    expect(() => parseSweep({ base, ...more })).toThrow(
      expect.objectContaining({ code }),
    );
  });
});
