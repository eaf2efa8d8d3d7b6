/** A claim to a GPU that is given back. Claims of several processes: tests/integration/gpus. */
import { expect, test } from 'vitest';
import { gpuClaims } from '../../../src/agent/gpus/gpu-claim.ts';

test.runIf(process.platform === 'linux')(
  'a GPU that is given back can be claimed by others',
  async () => {
    const koffi = await import('koffi');
    // Each knows only of its own claims, as a process does.
    const [one, other] = Array.from({ length: 2 }, () =>
      gpuClaims(
        koffi,
        (buffer) => Number(koffi.address(buffer.buffer)) + buffer.byteOffset,
      ),
    );
    const id = `test ${process.pid}`;
    const claim = one!(id);
    expect(one!(id)).toBe(claim);
    expect(other!(id)).toMatchObject({ kind: 'held', holder: { pid: process.pid } });
    if (claim.kind !== 'claimed') throw new Error('expected a claim');
    claim.giveBack();
    const next = other!(id);
    expect(next.kind).toBe('claimed');
    expect(one!(id).kind).toBe('held');
    // A second time, it is no longer this one's to give.
    claim.giveBack();
    expect(one!(id).kind).toBe('held');
    if (next.kind === 'claimed') next.giveBack();
  },
);
