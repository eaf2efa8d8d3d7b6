/**
 * Decoders are total. Thousands of payloads each, 100,000 in the soak, of random bytes and
 * of bytes that were nearly right: a decoder answers with values or with `PAYLOAD_INVALID`, takes no memory, and
 * writes nothing outside its own.
 */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { effort, seed } from '../../harness/effort.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { GOLDEN } from './golden-methods.ts';
import { LoneCompressor } from './lone-compressor.ts';

const PAYLOADS = effort({ quick: 2000, soak: 100_000 });
const TENSORS = [60, 7, 33];
const LENGTH = 100;

/** Beside those of the golden methods. */
const MORE: readonly (readonly [method: string, parameters: JsonObject])[] = [
  ['topk', { k: 9, quantize: { bits: 4, bucket: 4 } }],
  ['topk', { k: 9, quantize: { bits: 8 } }],
  ['qsgd', { minElements: 10, bucket: 16 }],
  ['qsgd', { minElements: 0, levels: 5 }],
  ['qsgd', { minElements: 0, levels: 1, coding: 'elias' }],
  ['qsgd', { minElements: 10, bits: 8, bucket: 32, coding: 'elias', form: 'sparse' }],
  ['qsgd', { minElements: 0, warmupIterations: 1 }],
  ['fp8', { minElements: 10, format: 'e5m2', rounding: 'stochastic' }],
  ['terngrad', { minElements: 10 }],
  ['qgd', { minElements: 10 }],
  ['onebit', { minElements: 10, bucket: 16 }],
];
/** Of methods that talk in rounds what a rank alone sends. */
const DECODERS = [
  ...GOLDEN.map(({ method, parameters }) => [method, parameters] as const),
  ...MORE,
];

/** One of the ways in which bytes go wrong. */
function corrupt(valid: Uint8Array, random: () => number): Uint8Array {
  const upTo = (n: number): number => random() % n;
  const bytes = valid.slice();
  switch (upTo(6)) {
    case 0:
      return Uint8Array.from({ length: upTo(2 * valid.length + 9) }, () => upTo(256));
    case 1:
      return bytes.slice(0, upTo(bytes.length + 1));
    case 2:
      return Uint8Array.of(...bytes, ...new Uint8Array(1 + upTo(8)).fill(upTo(256)));
    case 3:
      for (let i = upTo(4); i >= 0; i--) bytes[upTo(bytes.length)]! ^= 1 << upTo(8);
      return bytes;
    case 4:
      return bytes.fill(upTo(2) * 255, upTo(bytes.length));
    default: {
      const from = upTo(bytes.length);
      for (let i = from; i < bytes.length; i++) bytes[i] = upTo(256);
      return bytes;
    }
  }
}

describe.each(DECODERS)('%s %j', (method, parameters) => {
  it(`takes or refuses ${PAYLOADS} payloads`, async () => {
    const lone = new LoneCompressor({ method, parameters, tensors: TENSORS });
    const { arena } = lone;
    const valid = await lone.encode(bellShaped(LENGTH));
    await lone.decode(lone.parse(valid));
    const guard = arena.allocate(4096);
    const canary = arena.u8(guard.offset, guard.bytes).fill(0xa5);
    const free = arena.allocate(1 << 16).offset;

    const counter = new CounterRandom({ seed });
    let drawn = 0;
    const random = (): number => counter.bits(drawn++);
    let taken = 0;
    for (let i = 0; i < PAYLOADS; i++) {
      const bytes = corrupt(valid, random);
      try {
        const payload = lone.parse(bytes);
        await lone.decode(payload);
        taken++;
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
        if (error.code !== 'PAYLOAD_INVALID') throw error;
      }
    }
    expect(taken).toBeLessThan(PAYLOADS);
    expect(canary.every((byte) => byte === 0xa5)).toBe(true);
    // The next region lies right behind the last: nothing was allocated in between.
    expect(arena.allocate(1 << 16).offset).toBe(free + (1 << 16));
  });
});

describe('a gathered payload that has not been parsed', () => {
  it.each([
    ['qsgd', { minElements: 0 }],
    ['qsgd', { minElements: 0, coding: 'elias' }],
    ['terngrad', { minElements: 0 }],
    ['qgd', { minElements: 0 }],
    ['onebit', { minElements: 0 }],
    ['topk', { k: 9, quantize: { bits: 4 } }],
  ])('of %s %j is refused by decode as well', async (method, parameters) => {
    const lone = new LoneCompressor({ method, parameters, tensors: TENSORS });
    const valid = await lone.encode(bellShaped(LENGTH));
    const payload = lone.parse(valid);
    const data = { ...payload.data, bytes: payload.data.bytes - 4 };
    await expect(lone.decode({ ...payload, data })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      kind: 'failure',
      message: expect.stringContaining(method),
    });
  });

  it.each([
    ['qsgd', { minElements: 0 }],
    ['topk', { k: 9, quantize: { bits: 4 } }],
  ])('of %s %j names the rank that sent it', async (method, parameters) => {
    const lone = new LoneCompressor({ method, parameters, tensors: TENSORS });
    const good = lone.parse(await lone.encode(bellShaped(LENGTH)));
    const data = { ...good.data, bytes: good.data.bytes - 4 };
    const payloads = [good, good, { ...good, data }, good];
    const decode = (): unknown =>
      lone.compressor.decode({ form: 'gathered', payloads }, 0);
    expect(decode).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        rank: 2,
        place: 'payload of rank 2',
        next: expect.stringContaining('same version'),
      }),
    );
  });
});
