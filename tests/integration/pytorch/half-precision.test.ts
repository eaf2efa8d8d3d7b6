/** The codes of 16-bit values beside those of PyTorch, which shares no code with ours. */
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
