import { describe, expect, test } from 'vitest';
import { broadcast } from '../../../src/agent/collectives/broadcast.ts';
import { gather } from '../../../src/agent/collectives/gather.ts';
import {
  assertFits,
  chooseCollective,
  collectives,
  collectivesFor,
  describeCollectives,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';

describe('the registry', () => {
  test('gives every collective and primitive a code of its own', () => {
    const codes = [...collectives.values()].map(({ code }) => code);
    const taken = [...codes, gather.code, broadcast.code];
    expect(new Set(taken).size).toBe(taken.length);
    expect(codes.every((code) => code > 0 && code < 1000)).toBe(true);
  });

  test('never renumbers: the codes travel between versions', () => {
    expect(
      Object.fromEntries([...collectives.values()].map(({ id, code }) => [id, code])),
    ).toMatchObject({ ring: 1, 'recursive-doubling': 2, 'sparse-allgather': 3 });
  });

  test('describes each as the catalogue shows it', () => {
    expect(describeCollectives().map(({ id }) => id)).toEqual([...collectives.keys()]);
    for (const entry of describeCollectives()) {
      expect(entry.title && entry.summary && entry.source).toBeTruthy();
      expect(Object.keys(entry)).not.toContain('run');
    }
  });

  test('suggests the nearest id for one it does not know', () => {
    expect(() => findCollective('rign')).toThrow(
      expect.objectContaining({
        code: 'COLLECTIVE_UNKNOWN',
        kind: 'input',
        next: 'Did you mean "ring"?',
      }),
    );
    expect(() => findCollective('xxxxxxxxxxxxxxxxxxxxxxxx')).toThrow(
      expect.objectContaining({ next: expect.stringContaining('ring, ') as string }),
    );
  });

  test('refuses a payload that a collective does not take, and says what does', () => {
    const refused = () => {
      assertFits(findCollective('ring'), 'sparse', 'topk');
    };
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'COLLECTIVE_MISFIT',
        message: 'ring takes dense or scalars payloads, topk makes sparse ones',
        next: 'Use collective=sparse-allgather or collective=auto.',
      }),
    );
    for (const kind of ['dense', 'sparse', 'scalars'] as const) {
      for (const collective of collectivesFor(kind)) {
        assertFits(collective, kind, 'any');
      }
    }
  });
});

describe('auto', () => {
  const dense = (ranks: number, length: number) =>
    chooseCollective('dense', { ranks, length, payloadBytes: 4 * length }).id;

  test.each([2, 3, 4, 8])('doubles for few bytes, rings for many: P = %d', (ranks) => {
    expect(dense(ranks, 2)).toBe('recursive-doubling');
    expect(dense(ranks, 10_000_000)).toBe('ring');
  });

  test('takes what sparse payloads fit', () => {
    const shape = { ranks: 4, length: 1000, payloadBytes: 80, nnz: 10 };
    expect(chooseCollective('sparse', shape).id).toBe('sparse-allgather');
  });

  test('says where nothing fits', () => {
    const shape = { ranks: 4, length: 1000, payloadBytes: 80 };
    expect(() => chooseCollective('quantized', shape)).toThrow(
      expect.objectContaining({ code: 'COLLECTIVE_MISFIT' }),
    );
  });

  test('depends on the network: latency favours doubling, bandwidth the ring', () => {
    const shape = { ranks: 8, length: 100_000, payloadBytes: 400_000 };
    const pick = (alpha: number, beta: number) =>
      chooseCollective('dense', shape, { alpha, beta, gamma: 0 }).id;
    expect(pick(1, 1e-9)).toBe('recursive-doubling');
    expect(pick(1e-9, 1)).toBe('ring');
  });

  test('costs nothing in a world of one', () => {
    const network = { alpha: 1, beta: 1, gamma: 1 };
    const shape = { ranks: 1, length: 10, payloadBytes: 40, nnz: 5 };
    for (const collective of collectives.values()) {
      expect(collective.cost(shape, network)).toBe(0);
      expect(collective.wireBytes(shape)).toBe(0);
    }
  });
});
