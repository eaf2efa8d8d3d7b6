/** One rank alone, by the engine's public entry. */
import { describe, expect, it } from 'vitest';
import {
  compressors,
  findMethod,
  LoneRank,
  openBackend,
  packPayload,
  packRankState,
  unpackRankState,
  type LoneRankOptions,
} from '../../../src/agent/engine.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';

const LENGTH = 600;
const vector = (iteration: number): Float32Array =>
  Float32Array.from(bellShaped(LENGTH, iteration + 1));

const stateOf = async (rank: LoneRank): Promise<Uint8Array> =>
  packRankState({ provenance: rank.provenance(1), state: await rank.save() });

function open(more: Partial<LoneRankOptions> & { method: string }): LoneRank {
  return new LoneRank({ shape: [LENGTH], ...more });
}

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

describe('a payload whose vector is not finite is refused, and the next is decoded', () => {
  const cases: readonly (readonly [string, object])[] = [
    ...[...compressors.keys()].map((method) => [method, {}] as const),
    ['qsgd', { minElements: 0, levels: 15 }],
    ['qsgd', { minElements: 0, form: 'sparse' }],
    ['terngrad', { minElements: 0 }],
    ['qgd', { minElements: 0 }],
    ['onebit', { minElements: 0 }],
    ['topk', { quantize: { bits: 4, bucket: 64 } }],
  ];
  it.each(cases)('%s %j', async (method, parameters) => {
    using rank = open({ method, shape: [20, 30], parameters } as LoneRankOptions);
    const { payload } = await rank.compress(vector(0), 0);
    const gradient = vector(0);
    const decoded = await rank.decompress(payload, 0, gradient);
    let refused = 0;
    for (let at = 0; at + 4 <= payload.length; at += 4) {
      for (const value of [NaN, Infinity, -Infinity]) {
        const bytes = payload.slice();
        new DataView(bytes.buffer).setFloat32(at, value, true);
        try {
          const values = await rank.decompress(bytes, 0, gradient);
          // These bytes are no float: indices or levels.
          expect(values.every(Number.isFinite)).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'PAYLOAD_INVALID', kind: 'input' });
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(0);
    expect(await rank.decompress(payload, 0, gradient)).toEqual(decoded);
  });

  it('names the element and its value', async () => {
    using rank = open({ method: 'topk', parameters: { k: 1 } });
    const payload = Uint8Array.from([17, 0, 0, 0, 0, 0, 0xc0, 0x7f]);
    await expect(rank.decompress(payload, 0)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: 'this is not a valid topk payload: element 17 of its vector is NaN',
    });
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

it('lengths in epochs are refused, for there are none here', () => {
  expect(() => open({ method: 'topk', parameters: { warmupEpochs: 1 } })).toThrow(
    expect.objectContaining({
      code: 'METHOD_PARAMETER_INVALID',
      next: 'Give "warmupIterations".',
    }),
  );
});

describe('a state of something else', () => {
  it.each<[Partial<LoneRankOptions>, RegExp]>([
    [{ method: 'topk' }, /method is dct, not topk/],
    [{ seed: 2 }, /seed is 1, not 2/],
    [{ rank: 1 }, /rank is 0, not 1/],
    [{ shape: [LENGTH + 1] }, /n is 600, not 601/],
    [{ shape: [20, 30] }, /shape is 600/],
  ])('%j is refused', async (change, message) => {
    using rank = open({ method: 'dct', seed: 1 });
    const state = { provenance: rank.provenance(1), state: await rank.save() };
    using other = open({ method: 'dct', ...change });
    const before = await other.save();
    expect(() => {
      other.restore(state);
    }).toThrow(message);
    expect(await other.save()).toEqual(before);
  });
});

describe('options that no file could state', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ seed: -1 }, /^LoneRank: seed: it must be at least 0, not -1$/],
    [{ seed: 1.5 }, /^LoneRank: seed: .*, not 1\.5$/],
    [{ seed: NaN }, /^LoneRank: seed: .*, not NaN$/],
    [
      { seed: 2 ** 32 },
      /^LoneRank: seed: it must be at most 4294967295, not 4294967296$/,
    ],
    [{ seed: '1' }, /^LoneRank: seed: expected a number, not "1"$/],
    [{ rank: -3 }, /^LoneRank: rank: it must be at least 0, not -3$/],
    [{ shape: [2.5, 8] }, /^LoneRank: shape\.0: .*, not 2\.5$/],
    [{ shape: [-5, -4] }, /^LoneRank: shape\.0: it must be at least 0, not -5$/],
    [{ shape: [] }, /^LoneRank: shape: it must have at least 1 item, not a list of 0$/],
    [{ shape: 20 }, /^LoneRank: shape: expected a list, not 20$/],
    [{ shape: new Uint8Array(2) }, /^LoneRank: /],
    [{ shape: undefined }, /^LoneRank: shape is missing$/],
    [{ shape: [0, 2 ** 30] }, /^LoneRank: shape\.1: it must be at most 268435456/],
  ];
  it.each(wrong)('%j: refused', (options, message) => {
    expect(() => open({ method: 'qsgd', ...options })).toThrow(
      expect.objectContaining({
        code: 'OPTION_INVALID',
        kind: 'input',
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  it.each(['cuda', 'webgpu', 'constructor', 7, null])('backend %j: refused', (name) => {
    const backend = name as LoneRankOptions['backend'];
    expect(() => open({ method: 'qsgd', backend })).toThrow(
      expect.objectContaining({ code: 'BACKEND_UNKNOWN', kind: 'input' }),
    );
  });

  it('a backend of no name is refused where it is opened, too', async () => {
    await expect(openBackend('cuda' as never)).rejects.toMatchObject({
      code: 'BACKEND_UNKNOWN',
      next: 'Use one of reference, wasm, webgpu.',
    });
  });

  it.each([-1, 0.5, NaN, 2 ** 32])('iteration %d: refused', async (iteration) => {
    using rank = open({ method: 'qsgd' });
    const refused = { code: 'OPTION_INVALID', kind: 'input' };
    await expect(rank.compress(vector(0), iteration)).rejects.toMatchObject(refused);
    await expect(rank.decompress(new Uint8Array(4), iteration)).rejects.toMatchObject(
      refused,
    );
    expect(() => rank.provenance(iteration)).toThrow(expect.objectContaining(refused));
    expect((await rank.compress(vector(0), 0)).payload.length).toBeGreaterThan(0);
  });

  it('vectors and payloads of other types are refused', async () => {
    using rank = open({ method: 'qsgd' });
    const refused = { code: 'OPTION_INVALID', kind: 'input' };
    const doubles = new Float64Array(LENGTH) as never;
    await expect(rank.compress(doubles, 0)).rejects.toMatchObject(refused);
    await expect(rank.decompress([1, 2] as never, 0)).rejects.toMatchObject(refused);
  });

  it('a provenance that could not be read again is not written', async () => {
    using rank = open({ method: 'qsgd' });
    const { payload } = await rank.compress(vector(0), 0);
    const provenance = rank.provenance(0);
    const state = await rank.save();
    for (const change of [{ seed: -1 }, { n: 7 }, { shape: [1.5] }, { extra: 1 }]) {
      const other = { ...provenance, ...change };
      const refused = expect.objectContaining({ code: 'OPTION_INVALID' }) as Error;
      expect(() => packPayload({ provenance: other, payload })).toThrow(refused);
      expect(() => packRankState({ provenance: other, state })).toThrow(refused);
    }
  });
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
