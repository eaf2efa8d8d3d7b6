/** The codes of values of 16 and 8 bits beside those of PyTorch, which shares no code with ours. */
import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasPython, pythonFile } from '../../../scripts/python-environment.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { HALF_TYPES } from '../../../src/agent/memory/value-type.ts';
import { backends } from '../../unit/kernels/backends.ts';

/** Values for 16 bits: every exponent, any fraction; NaN and infinity are no gradients. */
const SINGLES = 200_000;
const random = new CounterRandom({ seed: 5 });
const singles = new Float32Array(
  Uint32Array.from({ length: SINGLES }, (_, i) => {
    const bits = random.bits(i);
    return (bits & 0x7f80_0000) === 0x7f80_0000 ? bits & 0x807f_ffff : bits;
  }).buffer,
);

/**
 * Values in blocks for 8 bits: magnitudes over 40 binades, so that blocks have everything from zeros to
 * their largest.
 */
const BLOCKED = 32 * 5000;
const blocked = Float32Array.from({ length: BLOCKED }, (_, i) => {
  const word = random.bits(SINGLES + i);
  const power = -20 + (word % 41) - 3 * (Math.floor(i / 32) % 9);
  return (word & 1 ? -1 : 1) * (1 + (word >>> 9) / 2 ** 23) * 2 ** power;
});

const SCRIPT = `
import sys, torch
def given(n):
    return torch.frombuffer(bytearray(sys.stdin.buffer.read(4 * n)), dtype=torch.float32)
x = given(${SINGLES})
for dtype in (torch.bfloat16, torch.float16):
    y = x.to(dtype).clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)
    sys.stdout.buffer.write(y.view(torch.int16).numpy().tobytes())
x = given(${BLOCKED})
for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
    largest = torch.finfo(dtype).max
    blocks = x.double().reshape(-1, 32)
    scale = torch.exp2(torch.ceil(torch.log2(blocks.abs().amax(1, keepdim=True) / largest)))
    y = (blocks / scale).float().to(dtype)
    sys.stdout.buffer.write(y.view(torch.uint8).numpy().tobytes())
    sys.stdout.buffer.write((y.double() * scale).float().numpy().tobytes())
`;

describe.skipIf(!hasPython('tests'))('PyTorch rounds', () => {
  /** PyTorch's answers: 4 bytes for each of the singles, then 10 for each of the blocked values. */
  let said: Uint8Array;

  beforeAll(() => {
    const input = Buffer.concat(
      [singles, blocked].map(({ buffer }) => Buffer.from(buffer)),
    );
    const { stdout, stderr, status } = spawnSync(pythonFile, ['-c', SCRIPT], {
      input,
      maxBuffer: 4 * input.length,
    });
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toHaveLength(4 * SINGLES + 10 * BLOCKED);
    said = Uint8Array.from(stdout);
  });

  test('to the same codes', () => {
    const { arena, kernels } = backends.wasm();
    const vector = arena.allocateVector(SINGLES);
    arena.f32(vector).set(singles);
    const data = { ...arena.allocate(2 * SINGLES), bytes: 2 * SINGLES };
    HALF_TYPES.forEach((type, index) => {
      kernels.halfPrecision.narrow(type, vector, 1, data);
      const ours = new Uint16Array(arena.u8(data.offset, data.bytes).slice().buffer);
      const theirs = new Uint16Array(said.buffer, 2 * SINGLES * index, SINGLES);
      const at = ours.findIndex((code, i) => code !== theirs[i]);
      expect(at, `${type}: ${singles[at]} is ${ours[at]} for ${theirs[at]}`).toBe(-1);
    });
  });

  test('blocks to the same 8 bits', () => {
    const { arena, kernels } = backends.wasm();
    const vector = arena.allocateVector(BLOCKED);
    arena.f32(vector).set(blocked);
    const scales = { ...arena.allocate(BLOCKED / 32), bytes: BLOCKED / 32 };
    const codes = { ...arena.allocate(BLOCKED), bytes: BLOCKED };
    const out = arena.allocateVector(BLOCKED);
    for (const [index, type] of (['e4m3', 'e5m2'] as const).entries()) {
      kernels.microscaling.encode(type, vector, scales, codes);
      kernels.microscaling.decode(type, scales, codes, out);
      const from = 4 * SINGLES + 5 * BLOCKED * index;
      const theirs = said.subarray(from, from + 5 * BLOCKED);
      const ours = arena.u8(codes.offset, BLOCKED);
      const at = ours.findIndex((code, i) => code !== theirs[i]);
      expect(at, `${type}: ${blocked[at]} is ${ours[at]} for ${theirs[at]}`).toBe(-1);
      const values = new Float32Array(theirs.slice(BLOCKED).buffer);
      expect(arena.f32(out).findIndex((value, i) => value !== values[i])).toBe(-1);
    }
  });
});
