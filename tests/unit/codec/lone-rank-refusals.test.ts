/** One rank alone: states, options and payloads that it refuses. */
import { describe, expect, it } from 'vitest';
import {
  compressors,
  openBackend,
  packPayload,
  packRankState,
  type LoneRankOptions,
} from '../../../src/agent/engine.ts';
import { LENGTH, open, vector } from './open-rank.ts';

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
