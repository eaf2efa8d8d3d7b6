/** The codes of values of 16 and 8 bits beside those of PyTorch, which shares no code with ours. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { hasPython, pythonFile } from '../../../scripts/python-environment.ts';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { HALF_TYPES } from '../../../src/agent/memory/value-type.ts';
import { backends } from '../../unit/kernels/backends.ts';

const SCRIPT = `
import sys, torch
x = torch.frombuffer(bytearray(sys.stdin.buffer.read()), dtype=torch.float32)
for dtype in (torch.bfloat16, torch.float16):
    y = x.to(dtype).clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)
    sys.stdout.buffer.write(y.view(torch.int16).numpy().tobytes())
`;

test.skipIf(!hasPython('tests'))('PyTorch rounds to the same codes', () => {
  // Every exponent, any fraction; NaN and infinity are no gradients.
  const random = new CounterRandom({ seed: 5 });
  const n = 200_000;
  const x = new Float32Array(
    Uint32Array.from({ length: n }, (_, i) => {
      const bits = random.bits(i);
      return (bits & 0x7f80_0000) === 0x7f80_0000 ? bits & 0x807f_ffff : bits;
    }).buffer,
  );
  const { stdout, stderr, status } = spawnSync(pythonFile, ['-c', SCRIPT], {
    input: new Uint8Array(x.buffer),
    maxBuffer: 16 * n,
  });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  const { arena, kernels } = backends.wasm();
  const vector = arena.allocateVector(n);
  arena.f32(vector).set(x);
  const data = { ...arena.allocate(2 * n), bytes: 2 * n };
  HALF_TYPES.forEach((type, index) => {
    kernels.halfPrecision.narrow(type, vector, 1, data);
    const ours = new Uint16Array(arena.u8(data.offset, data.bytes).slice().buffer);
    const theirs = new Uint16Array(
      Uint8Array.from(stdout.subarray(2 * n * index, 2 * n * (index + 1))).buffer,
    );
    const at = ours.findIndex((code, i) => code !== theirs[i]);
    expect(at, `${type}: ${x[at]} is ${ours[at]} for ${theirs[at]}`).toBe(-1);
  });
});

const FLOAT8_SCRIPT = `
import sys, torch
x = torch.frombuffer(bytearray(sys.stdin.buffer.read()), dtype=torch.float32)
for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
    largest = torch.finfo(dtype).max
    blocks = x.double().reshape(-1, 32)
    scale = torch.exp2(torch.ceil(torch.log2(blocks.abs().amax(1, keepdim=True) / largest)))
    y = (blocks / scale).float().to(dtype)
    sys.stdout.buffer.write(y.view(torch.uint8).numpy().tobytes())
    sys.stdout.buffer.write((y.double() * scale).float().numpy().tobytes())
`;

test.skipIf(!hasPython('tests'))('PyTorch rounds blocks to the same 8 bits', () => {
  // Magnitudes over 40 binades, so that blocks have everything from zeros to their largest.
  const random = new CounterRandom({ seed: 6 });
  const n = 32 * 5000;
  const x = Float32Array.from({ length: n }, (_, i) => {
    const word = random.bits(i);
    const power = -20 + (word % 41) - 3 * (Math.floor(i / 32) % 9);
    return (word & 1 ? -1 : 1) * (1 + (word >>> 9) / 2 ** 23) * 2 ** power;
  });
  const { stdout, stderr, status } = spawnSync(pythonFile, ['-c', FLOAT8_SCRIPT], {
    input: new Uint8Array(x.buffer),
    maxBuffer: 16 * n,
  });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  const { arena, kernels } = backends.wasm();
  const vector = arena.allocateVector(n);
  arena.f32(vector).set(x);
  const scales = { ...arena.allocate(n / 32), bytes: n / 32 };
  const codes = { ...arena.allocate(n), bytes: n };
  const out = arena.allocateVector(n);
  for (const [index, type] of (['e4m3', 'e5m2'] as const).entries()) {
    kernels.microscaling.encode(type, vector, scales, codes);
    kernels.microscaling.decode(type, scales, codes, out);
    const theirs = stdout.subarray(5 * n * index, 5 * n * (index + 1));
    const ours = arena.u8(codes.offset, n);
    const at = ours.findIndex((code, i) => code !== theirs[i]);
    expect(at, `${type}: ${x[at]} is ${ours[at]} for ${theirs[at]}`).toBe(-1);
    const values = new Float32Array(Uint8Array.from(theirs.subarray(n)).buffer);
    expect(arena.f32(out).findIndex((value, i) => value !== values[i])).toBe(-1);
  }
});
