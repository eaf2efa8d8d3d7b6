/** Files of payloads and states: what they are to the byte, and whatever else they are not. */
import { describe, expect, it } from 'vitest';
import { crc32 } from 'node:zlib';
import { packContainer, unpackContainer } from '../../../src/agent/codec/container.ts';
import { packPayload, unpackPayload } from '../../../src/agent/codec/payload-file.ts';
import type { Provenance } from '../../../src/agent/codec/provenance.ts';
import { packRankState, unpackRankState } from '../../../src/agent/codec/state-file.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { effort, seed } from '../../harness/effort.ts';

const provenance: Provenance = {
  method: 'topk',
  parameters: { ratio: 0.01 },
  n: 6,
  shape: [2, 3],
  seed: 7,
  rank: 1,
  iteration: 3,
};
const payload = Uint8Array.of(1, 2, 3, 4, 5);
/** How often bytes are drawn. */
const FILES = effort({ quick: 5000, soak: 100_000 });

const file = packPayload({ provenance, payload });
const header = JSON.stringify(provenance);

/** The file with its checksum made right again after a change. */
function resealed(change: (bytes: Uint8Array, view: DataView) => void): Uint8Array {
  const bytes = file.slice();
  const view = new DataView(bytes.buffer);
  change(bytes, view);
  view.setUint32(12, crc32(bytes.subarray(16), crc32(bytes.subarray(0, 12))), true);
  return bytes;
}

/** A payload's file with any header. */
const headed = (value: object): Uint8Array => packContainer('payload', value, []);

it('is magic, version, kind, sizes, checksum, header, payload, and nothing else', () => {
  const text = Buffer.from(file);
  const view = new DataView(file.buffer);
  expect(text.toString('latin1', 0, 4)).toBe('GRDW');
  expect([view.getUint16(4, true), view.getUint16(6, true)]).toEqual([1, 1]);
  expect(view.getUint32(8, true)).toBe(header.length);
  expect(view.getBigUint64(16, true)).toBe(5n);
  expect(text.toString('utf8', 24, 24 + header.length)).toBe(header);
  expect([...file.subarray(24 + header.length)]).toEqual([1, 2, 3, 4, 5]);
  expect(resealed(() => undefined)).toEqual(file);
});

it('gives back what was put in', () => {
  expect(unpackPayload(file)).toEqual({ provenance, payload });
  const residual = Float32Array.of(1, -2, 3, 0, -0, 0.5);
  const state = { provenance, state: { residual, method: payload } };
  expect(unpackRankState(packRankState(state))).toEqual(state);
  const none = {
    provenance,
    state: { residual: new Float32Array(0), method: new Uint8Array(0) },
  };
  expect(unpackRankState(packRankState(none))).toEqual(none);
});

describe('a file that is refused', () => {
  it.each<[string, Uint8Array, string, RegExp]>([
    ['of text', Buffer.from('gradwire'), 'CONTAINER_UNKNOWN', /begins with "grad"/],
    ['of floats', new Uint8Array(400), 'CONTAINER_UNKNOWN', /begins with/],
    ['of nothing', new Uint8Array(0), 'CONTAINER_TRUNCATED', /0 of 24 bytes/],
    ['cut in its prefix', file.slice(0, 20), 'CONTAINER_TRUNCATED', /20 of 24 bytes/],
    ['cut in its header', file.slice(0, 60), 'CONTAINER_TRUNCATED', /60 of/],
    ['cut in its payload', file.slice(0, -1), 'CONTAINER_TRUNCATED', /truncated/],
    [
      'with more behind',
      Buffer.concat([file, payload]),
      'CONTAINER_CORRUPT',
      /5 extra bytes/,
    ],
    [
      'of another version',
      resealed((_, view) => view.setUint16(4, 2, true)),
      'CONTAINER_UNKNOWN',
      /version 2, .* version 1/,
    ],
    [
      'of another kind',
      resealed((_, view) => view.setUint16(6, 9, true)),
      'CONTAINER_UNKNOWN',
      /of kind 9/,
    ],
    [
      'that is a state',
      packRankState({
        provenance,
        state: { residual: new Float32Array(0), method: payload },
      }),
      'CONTAINER_UNKNOWN',
      /a state, not a payload/,
    ],
    [
      'whose header is no JSON',
      resealed((bytes) => (bytes[24] = 0x5b)),
      'CONTAINER_CORRUPT',
      /not JSON/,
    ],
    [
      'whose header would be huge',
      resealed((_, view) => view.setUint32(8, 0xffffffff, true)),
      'CONTAINER_CORRUPT',
      /header has 4294967295 bytes/,
    ],
    [
      'whose payload would be huge',
      resealed((_, view) => view.setBigUint64(16, 2n ** 63n, true)),
      'CONTAINER_TRUNCATED',
      /truncated/,
    ],
    [
      'without a method',
      headed({ ...provenance, method: '' }),
      'CONTAINER_CORRUPT',
      /method/,
    ],
    ['of −1 elements', headed({ ...provenance, n: -1 }), 'CONTAINER_CORRUPT', /"n"/],
    [
      'of too many elements',
      headed({ ...provenance, n: 2 ** 29, shape: [2 ** 29] }),
      'CONTAINER_CORRUPT',
      /"n"/,
    ],
    [
      'of a shape that is not n',
      headed({ ...provenance, shape: [6, 2] }),
      'CONTAINER_CORRUPT',
      /6×2/,
    ],
    [
      'with a key more',
      headed({ ...provenance, extra: 1 }),
      'CONTAINER_CORRUPT',
      /header/,
    ],
    ['that is a list', headed([1]), 'CONTAINER_CORRUPT', /header/],
  ])('%s', (_, bytes, code, message) => {
    let thrown: unknown;
    try {
      unpackPayload(bytes);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code,
      kind: 'input',
      message: expect.stringMatching(message),
      next: expect.any(String),
    });
  });

  it('for any one bit of it that is wrong', () => {
    for (let bit = 0; bit < 8 * file.length; bit++) {
      const bytes = file.slice();
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => unpackPayload(bytes), `bit ${bit}`).toThrow(GradwireError);
    }
  });

  it('for arbitrary bytes', () => {
    const random = new CounterRandom({ seed });
    let drawn = 0;
    for (let i = 0; i < FILES; i++) {
      const bytes = resealed((all) => {
        for (let change = random.bits(drawn++) % 5; change >= 0; change--) {
          all[random.bits(drawn++) % all.length] = random.bits(drawn++);
        }
      });
      try {
        const { payload: read } = unpackPayload(bytes);
        expect(read.length).toBeLessThan(bytes.length);
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
      }
    }
  });
});

it('a state whose residual is not all there, or not finite, is refused', () => {
  const of = (residual: number, body: Uint8Array): Uint8Array =>
    packContainer('state', { ...provenance, residual }, [body]);
  const nan = new Uint8Array(Float32Array.of(0, 0, 0, NaN, 0, 0).buffer);
  for (const [bytes, message] of [
    [of(6, new Uint8Array(23)), /residual is truncated/],
    [of(5, new Uint8Array(24)), /5 elements instead of 6/],
    [of(6, nan), /not finite/],
    [packContainer('state', provenance, []), /undefined elements/],
  ] as const) {
    expect(() => unpackRankState(bytes)).toThrow(message);
  }
  expect(() => unpackContainer('state', file)).toThrow(/a payload, not a state/);
});
