/** Which specs and switches asynchronous training takes. */
import { describe, expect, it } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';

type Section = Record<string, unknown>;

const spec = (parallelism: Section, rest: Section = {}): Section => ({
  ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
  ...{ world: { ranks: 2 }, parallelism, ...rest },
});
const ASYNCHRONOUS = { kind: 'asynchronous' };

describe('a spec of asynchronous training', () => {
  it.each([
    'none',
    'topk',
    'randomk',
    'threshold',
    'gaussiank',
    'dct',
    'nonzero',
    'qsgd',
    'terngrad',
    'onebit',
    'qgd',
  ])('takes %s', (method) => {
    const given = spec(
      { ...ASYNCHRONOUS, staleness: 0, servers: 2 },
      { exchange: { method } },
    );
    expect(checkedLaunch(given).plan).toMatchObject({ method, collective: 'auto' });
  });

  it.each<[Section, Section, string, string]>([
    [{ staleness: 3 }, {}, 'PARALLELISM_MISFIT', 'parallelism.staleness'],
    [{ servers: 2 }, {}, 'PARALLELISM_MISFIT', 'parallelism.servers'],
    [{ ...ASYNCHRONOUS, every: 4 }, {}, 'PARALLELISM_MISFIT', 'parallelism.every'],
    [
      { kind: 'local-steps', staleness: 2 },
      {},
      ...(['PARALLELISM_MISFIT', 'parallelism.staleness'] as const),
    ],
    [{ ...ASYNCHRONOUS, servers: 3 }, {}, 'PARALLELISM_MISFIT', 'parallelism.servers'],
    [
      { trainerThreads: 2 },
      {},
      ...(['PARALLELISM_MISFIT', 'parallelism.trainerThreads'] as const),
    ],
    [{ drainEvery: 9 }, {}, 'PARALLELISM_MISFIT', 'parallelism.drainEvery'],
    [
      { ...ASYNCHRONOUS, trainerThreads: 6 },
      {},
      ...(['PARALLELISM_MISFIT', 'parallelism.trainerThreads'] as const),
    ],
    [
      { ...ASYNCHRONOUS, trainerThreads: 2 },
      { backend: 'webgpu' },
      ...(['PARALLELISM_MISFIT', 'backend'] as const),
    ],
    ...(
      [
        [{ optimizer: { kind: 'adam' } }, 'optimizer.kind'],
        [{ optimizer: { clipNorm: 1 } }, 'optimizer.clipNorm'],
        [{ optimizer: { fullGradientEvery: 9 } }, 'optimizer.fullGradientEvery'],
        [{ overlap: true }, 'overlap'],
        [{ doubleBuffer: true }, 'doubleBuffer'],
        [{ compareEvery: 5 }, 'compareEvery'],
        [{ engine: 'inline' }, 'engine'],
        [
          { workload: { model: 'synthetic-gradient', dataset: 'none' } },
          'workload.model',
        ],
      ] as const
    ).map(([rest, place]): [Section, Section, string, string] => [
      ...([ASYNCHRONOUS, rest, 'PARALLELISM_MISFIT', place] as const),
    ]),
    ...(
      [
        [{ collective: 'ring' }, 'COLLECTIVE_MISFIT', 'exchange.collective'],
        [{ collective: 'adaptive' }, 'COLLECTIVE_MISFIT', 'exchange.collective'],
        [{ quantizeSums: { bits: 4 } }, 'COLLECTIVE_MISFIT', 'exchange.quantizeSums'],
        [{ delta: 0.2 }, 'COLLECTIVE_MISFIT', 'exchange.delta'],
        [{ servers: 2 }, 'COLLECTIVE_MISFIT', 'exchange.servers'],
        [{ method: 'scalecom' }, 'METHOD_NEEDS_PEERS', 'exchange.method'],
        [{ method: 'blockcd' }, 'METHOD_OPTIMIZER_MISFIT', 'exchange.method'],
        [
          { layers: [{ match: '*', method: 'blockcd' }] },
          ...(['METHOD_OPTIMIZER_MISFIT', 'exchange.method'] as const),
        ],
        [{ method: 'a2sgd' }, 'METHOD_NEEDS_PEERS', 'exchange.method'],
        [
          { method: 'topk', diagnosticsEvery: 3 },
          'METHOD_NEEDS_PEERS',
          'exchange.diagnosticsEvery',
        ],
        [
          { layers: [{ match: '*1*', method: 'powersgd' }] },
          ...(['METHOD_NEEDS_PEERS', 'exchange.method'] as const),
        ],
        [{ method: 'dgc' }, 'METHOD_OPTIMIZER_MISFIT', 'exchange.method'],
      ] as const
    ).map(([exchange, code, place]): [Section, Section, string, string] => [
      ...([ASYNCHRONOUS, { exchange }, code, place] as const),
    ]),
  ])('%j with %j is refused: %s', (parallelism, rest, code, place) => {
    expect(() => checkedLaunch(spec(parallelism, rest))).toThrow(
      expect.objectContaining({ code, place, next: expect.any(String) as string }),
    );
  });

  it('takes as many threads as may be apart', () => {
    const given = {
      ...ASYNCHRONOUS,
      trainerThreads: 5,
      staleness: 4,
      drainEvery: 1000,
    };
    expect(checkedLaunch(spec(given)).spec.parallelism).toEqual(given);
  });

  it.each([
    [{ method: 'powersgd' }, 'METHOD_NEEDS_PEERS'],
    [{ method: 'dgc' }, 'METHOD_OPTIMIZER_MISFIT'],
    [{ collective: 'ring' }, 'COLLECTIVE_MISFIT'],
    [{ method: 'topk', collective: 'ring' }, 'COLLECTIVE_MISFIT'],
    [{ servers: 2 }, 'COLLECTIVE_MISFIT'],
  ])('a switch to %j is refused: %s', (change, code) => {
    expect(() => checkedLaunch(spec(ASYNCHRONOUS), [{ change, at: 5 }])).toThrow(
      expect.objectContaining({
        code,
        next: expect.not.stringContaining('ring') as string,
      }),
    );
  });
});
