/** One rank alone, by the engine's public entry. */
import { describe, expect, it } from 'vitest';
import {
  compressors,
  findMethod,
  LoneRank,
  openBackend,
  packRankState,
  unpackRankState,
} from '../../../src/agent/engine.ts';
import { LENGTH, open, stateOf, vector } from './open-rank.ts';

describe.each([...compressors.keys()])('%s', (method) => {
  it('goes on from a saved state as if it had never stopped', async () => {
    const options = { method, shape: [20, 30], seed: 9, rank: 2 };
    using whole = new LoneRank(options);
    let saved: Uint8Array | undefined;
    for (let iteration = 0; iteration < 4; iteration++) {
      using piece = new LoneRank(options);
      if (saved !== undefined) piece.restore(unpackRankState(saved));
      const expected = await whole.compress(vector(iteration), iteration);
      const { payload, nnz } = await piece.compress(vector(iteration), iteration);
      expect(Buffer.from(payload).equals(expected.payload)).toBe(true);
      expect(nnz).toBe(expected.nnz);
      saved = packRankState({
        provenance: piece.provenance(iteration + 1),
        state: await piece.save(),
      });
    }
  });

  it('runs calls that are not awaited one after the other', async () => {
    const options = { method, shape: [20, 30] };
    using one = new LoneRank(options);
    const payloads = [
      await one.compress(vector(0), 0),
      await one.compress(vector(1), 1),
    ];
    const expected = payloads.map(({ payload }) => payload);
    const decode = (rank: LoneRank, iteration: number) =>
      rank.decompress(expected[iteration]!, iteration, vector(iteration));
    using reader = new LoneRank(options);
    const decoded = [await decode(reader, 0), await decode(reader, 1)];
    using other = new LoneRank(options);
    const together = await Promise.all([0, 1].map((i) => other.compress(vector(i), i)));
    expect(together.map(({ payload }) => payload)).toEqual(expected);
    using second = new LoneRank(options);
    expect(await Promise.all([decode(second, 0), decode(second, 1)])).toEqual(decoded);
  });

  it.each([{}, { warmupIterations: 1 }])(
    'decodes what others send without a change of its own state: %j',
    async (given) => {
      const known = Object.entries(given).filter(
        ([name]) => name in findMethod(method).parameters.shape,
      );
      const parameters = Object.fromEntries(known);
      const options = { method, shape: [20, 30], parameters };
      using sender = new LoneRank({ ...options, rank: 3 });
      using reading = new LoneRank(options);
      using alone = new LoneRank(options);
      for (let iteration = 0; iteration < 3; iteration++) {
        const { payload } = await alone.compress(vector(iteration), iteration);
        const own = await reading.compress(vector(iteration), iteration);
        expect(own.payload).toEqual(payload);
        const gradient = vector(iteration + 10);
        const sent = await sender.compress(gradient, iteration);
        await reading.decompress(sent.payload, iteration, gradient);
        expect(await reading.save()).toEqual(await alone.save());
      }
    },
  );

  it('returns its memory to an open backend', async () => {
    using backend = await openBackend('wasm');
    const sizes: number[] = [];
    for (let times = 0; times < 5; times++) {
      using rank = new LoneRank({ method, shape: [300, 400], backend });
      await rank.compress(new Float32Array(120_000).fill(1), 0);
      sizes.push(backend.arena.buffer.byteLength);
    }
    expect(sizes.slice(1)).toEqual(sizes.slice(1).fill(sizes[1]!));
  });

  it('takes vectors of no elements and of one', async () => {
    for (const values of [[], [-3]]) {
      const options = { method, shape: [values.length] };
      using lone = new LoneRank(options);
      const gradient = Float32Array.from(values);
      const { payload } = await lone.compress(gradient, 0);
      using other = new LoneRank(options);
      const decoded = await other.decompress(payload, 0, gradient);
      expect(decoded).toHaveLength(values.length);
      expect(decoded.every(Number.isFinite)).toBe(true);
    }
  });
});

describe('payloads of other iterations', () => {
  it.each([
    ['qsgd', { minElements: 0, warmupIterations: 1 }],
    ['randomk', { ratio: 0.1, rampIterations: 5 }],
    ['scalecom', { warmupIterations: 1 }],
    ['terngrad', { minElements: 0, warmupIterations: 1 }],
  ])('%s %j are refused', async (method, parameters) => {
    using sender = open({ method, parameters });
    using receiver = open({ method, parameters });
    const first = await sender.compress(vector(0), 0);
    const later = await sender.compress(vector(1), 4);
    await expect(receiver.decompress(later.payload, 0)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      kind: 'input',
    });
    if (method !== 'scalecom') {
      await expect(receiver.decompress(first.payload, 4)).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
      });
    }
    expect(await receiver.decompress(first.payload, 0)).toHaveLength(LENGTH);
    expect(await receiver.decompress(later.payload, 4)).toHaveLength(LENGTH);
  });
});

it('reads what was written with a parameter that did nothing', async () => {
  const parameters = { minElements: 0, levels: 100, bits: 8, form: 'dense' };
  using rank = open({ method: 'qsgd', parameters });
  const { payload } = await rank.compress(vector(0), 0);
  using reader = new LoneRank(rank.provenance(0));
  const decoded = await reader.decompress(payload, 0);
  expect(Math.max(...decoded.map((x, i) => Math.abs(x - vector(0)[i]!)))).toBeLessThan(
    0.03,
  );
});

it('a vector that travels as it is keeps nothing back, and a state that does is refused', async () => {
  using compressing = open({ method: 'topk' });
  await compressing.compress(vector(0), 0);
  const state = {
    provenance: compressing.provenance(1),
    state: await compressing.save(),
  };
  const parameters = { minElements: LENGTH + 1 };
  using whole = open({ method: 'topk', parameters });
  const { payload } = await whole.compress(vector(0), 0);
  expect(Buffer.from(payload).equals(Buffer.from(vector(0).buffer))).toBe(true);
  expect((await whole.save()).residual).toHaveLength(0);
  expect(() => {
    whole.restore(state);
  }).toThrow(expect.objectContaining({ code: 'STATE_MISMATCH' }));
});

it('a2sgd gives the gradient back where it has it, and says what it needs', async () => {
  using rank = open({ method: 'a2sgd' });
  const { payload } = await rank.compress(vector(0), 0);
  expect(await rank.decompress(payload, 0, vector(0))).toEqual(vector(0));
  await expect(rank.decompress(payload, 0)).rejects.toMatchObject({
    code: 'PAYLOAD_NEEDS_GRADIENT',
    kind: 'input',
  });
});

it('what is not finite is named by its index', async () => {
  using rank = open({ method: 'topk' });
  for (const value of [NaN, Infinity, -Infinity]) {
    const values = vector(0).fill(value, 17, 18);
    await expect(rank.compress(values, 0)).rejects.toMatchObject({
      code: 'VECTOR_NOT_FINITE',
      message: `element 17 is ${value}`,
    });
  }
  await expect(rank.compress(new Float32Array(3), 0)).rejects.toMatchObject({
    code: 'VECTOR_LENGTH_INVALID',
  });
});

it.each(['topk', 'gaussiank', 'dct', 'scalecom', 'dgc', 'powersgd'])(
  '%s says so when finite vectors leave the range of f32',
  async (method) => {
    // Far more than is sent: what is kept back doubles with each vector.
    const huge = Float32Array.from({ length: LENGTH }, (_, i) => 3e38 - 1e35 * i);
    using rank = open({ method, shape: [20, 30] });
    const failing = async (): Promise<void> => {
      for (let iteration = 0; iteration < 4; iteration++) {
        const { payload } = await rank.compress(huge, iteration);
        expect(payload.length).toBeGreaterThan(0);
        const state = await stateOf(rank);
        expect(() => unpackRankState(state)).not.toThrow();
      }
    };
    await expect(failing()).rejects.toMatchObject({ code: 'COMPRESSION_OVERFLOW' });
  },
);

it('a start without a ramp or a warm-up changes nothing', async () => {
  for (const method of ['topk', 'gaussiank', 'randomk', 'dgc', 'scalecom']) {
    using plain = open({ method });
    const parameters = { rampStart: 5, warmupStart: 7 };
    const known = Object.entries(parameters).filter(
      ([name]) => name in findMethod(method).parameters.shape,
    );
    using started = open({ method, parameters: Object.fromEntries(known) });
    const expected = await plain.compress(vector(0), 0);
    const { payload } = await started.compress(vector(0), 0);
    expect(Buffer.from(payload).equals(expected.payload)).toBe(true);
  }
});

it('a vector below the size that goes dense travels as it is', async () => {
  using rank = open({ method: 'topk', parameters: { minElements: LENGTH + 1 } });
  const { payload, kind } = await rank.compress(vector(0), 0);
  expect(kind).toBe('dense');
  expect(await rank.decompress(payload, 0)).toEqual(vector(0));
  using other = open({ method: 'topk', parameters: { minElements: LENGTH } });
  expect((await other.compress(vector(0), 0)).kind).toBe('sparse');
});

it('a rank that was disposed of refuses to work, and may be disposed of again', async () => {
  const rank = open({ method: 'topk' });
  const { payload } = await rank.compress(vector(0), 0);
  const saved = unpackRankState(await stateOf(rank));
  rank[Symbol.dispose]();
  rank[Symbol.dispose]();
  const refused = { code: 'RANK_DISPOSED', kind: 'input' };
  await expect(rank.compress(vector(0), 1)).rejects.toMatchObject(refused);
  await expect(rank.decompress(payload, 1)).rejects.toMatchObject(refused);
  await expect(rank.save()).rejects.toMatchObject(refused);
  expect(() => rank.restore(saved)).toThrow(expect.objectContaining(refused));
});

it('disposed of in the middle of a call, it ends that one and refuses those after it', async () => {
  using backend = await openBackend('wasm');
  const { arena } = backend;
  const rank = open({ method: 'topk', backend });
  using other = open({ method: 'topk' });
  const calls = [0, 1].map((iteration) => rank.compress(vector(iteration), iteration));
  // Now the first call is under way.
  await Promise.resolve();
  rank[Symbol.dispose]();
  // Memory that it still uses is not given to others.
  arena.f32(arena.allocateVector(10 * LENGTH)).fill(NaN);
  const [first, second] = await Promise.allSettled(calls);
  const { payload } = await other.compress(vector(0), 0);
  expect(first).toMatchObject({ status: 'fulfilled', value: { payload } });
  expect(second).toMatchObject({ reason: { code: 'RANK_DISPOSED' } });
});

it('an open backend keeps nothing of a rank that could not be made', async () => {
  using backend = await openBackend('wasm');
  const refusing = {
    ...backend,
    open: () => {
      throw new Error('no');
    },
  };
  const place = (): number => {
    const region = backend.arena.allocate(8 * LENGTH);
    backend.arena.release(region);
    return region.offset;
  };
  const before = place();
  expect(() => open({ method: 'topk', backend: refusing })).toThrow('no');
  expect(place()).toBe(before);
});

it('a state is not restored in the middle of a call', async () => {
  using rank = open({ method: 'topk' });
  const state = { provenance: rank.provenance(0), state: await rank.save() };
  const call = rank.compress(vector(0), 0);
  expect(() => {
    rank.restore(state);
  }).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  await call;
  rank.restore(state);
  expect(await rank.save()).toEqual(state.state);
});
