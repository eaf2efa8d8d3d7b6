/** `nonzero` sends what is not 0, exactly that, and ranks get the sums of all of it. */
import { describe, expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { backends } from '../kernels/backends.ts';
import { INPUTS } from '../kernels/adversarial-inputs.ts';
import { LoneCompressor } from './lone-compressor.ts';
import { SimulatedWorld } from './simulated-world.ts';

const parameters = { minElements: 0 };

describe.each(Object.keys(INPUTS))('of %s', (name) => {
  it.each([1, 31, 1033])('%i entries come back as they were', async (length) => {
    const gradient = INPUTS[name]!(length);
    if (!gradient.every(Number.isFinite)) return;
    const alone = new LoneCompressor({
      method: 'nonzero',
      parameters,
      tensors: [length],
    });
    const back = await alone.roundTrip(gradient.slice(), 0);
    // −0 is 0: it is not sent.
    expect(back).toEqual(gradient.map((x) => (x === 0 ? 0 : x)));
  });
});

it('sends the smallest f32 there is, and no zero', async () => {
  const length = 40;
  const gradients = [0, 1].map((rank) => {
    const gradient = new Float32Array(length);
    gradient[rank] = rank === 0 ? 2 ** -149 : -(2 ** -126);
    gradient[7] = rank === 0 ? 1.5 : -1.5;
    gradient[9] = -0;
    return gradient;
  });
  const world = new SimulatedWorld({
    method: 'nonzero',
    parameters,
    ranks: 2,
    length,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
  const expected = new Float32Array(length);
  // Half of the smallest rounds to 0.
  expected[1] = -(2 ** -127);
  for (const result of await world.exchange(0, gradients)) {
    expect(result).toEqual(expected);
  }
});

describe('beside collectives', () => {
  it('refuses one that leaves entries out', () => {
    expect(() => resolvePlan({ method: 'nonzero', collective: 'ok-topk' })).toThrow(
      expect.objectContaining({ code: 'COLLECTIVE_MISFIT' }),
    );
    expect(
      resolvePlan({ method: 'nonzero', collective: 'ssar-split-allgather' }),
    ).toMatchObject({ collective: 'ssar-split-allgather' });
  });

  it('leaves it behind where a switch from topk says nothing of it', () => {
    const before = resolvePlan({ method: 'topk', collective: 'ok-topk' });
    expect(resolvePlan({ method: 'nonzero' }, before)).toMatchObject({
      collective: 'auto',
    });
  });
});
