/**
 * Every method against its oracle (`golden-methods.ts`) on the CPU's kernels.
 *
 * Inputs are integers chosen so that every sum, mean and division by P is exact in f32:
 * results are compared with ===, whatever the order of additions.
 */
import { describe, expect, it } from 'vitest';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { backends } from '../kernels/backends.ts';
import { GOLDEN, gradientsOf, HALVES, LENGTH, PINNED } from './golden-methods.ts';
import { openInArena } from './open-in-arena.ts';
import { SimulatedWorld, type Form, type WorldOptions } from './simulated-world.ts';

/** Every number ===, so that −0 is 0, or within the tolerance. */
function expectEqual(
  actual: readonly Float32Array[],
  expected: number[][],
  tolerance: number,
): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((result, rank) => {
    expect(result.length).toBe(expected[rank]!.length);
    const bound = tolerance * Math.max(...expected[rank]!.map(Math.abs));
    const at = result.findIndex(
      (v, i) => !(Math.abs(v - expected[rank]![i]!) <= bound),
    );
    expect(at < 0 ? undefined : [rank, at, result[at], expected[rank]![at]]).toBe(
      undefined,
    );
  });
}

it('has an entry for every method of the registry', () => {
  expect(new Set(GOLDEN.map(({ method }) => method))).toEqual(new Set(methods.keys()));
});

describe.each(GOLDEN)('$method $parameters', ({ method, parameters, ...golden }) => {
  describe.each(Object.entries(backends))('on %s kernels', (_, makeBackend) => {
    const makeKernels: WorldOptions['makeKernels'] = (arena) =>
      makeBackend(arena).kernels;
    const world = (ranks: number, form: Form = golden.forms[0]!): SimulatedWorld =>
      new SimulatedWorld({
        method,
        parameters,
        ranks,
        form,
        length: LENGTH,
        tensors: HALVES,
        makeKernels,
      });

    it.each(golden.forms)(
      'equals the oracle exactly for P = 1…5, sums %s',
      async (form) => {
        for (let P = 1; P <= 5; P++) {
          const simulated = world(P, form);
          const step = golden.oracle(P, LENGTH);
          for (let iteration = 0; iteration < 6; iteration++) {
            const gradients = gradientsOf(P, iteration);
            const expected = step(gradients);
            const actual = await simulated.exchange(iteration, gradients);
            expectEqual(actual, expected, golden.tolerance ?? 0);
          }
        }
      },
    );

    it('sends the pinned bytes', async () => {
      const simulated = new SimulatedWorld({
        method,
        parameters,
        ranks: 1,
        length: PINNED.length,
        tensors: [
          { name: 'a', start: 0, length: 4, shape: [4] },
          { name: 'b', start: 4, length: 4, shape: [4] },
        ],
        makeKernels,
      });
      await simulated.exchange(0, [PINNED]);
      expect(Buffer.from(simulated.sent[0]!).toString('hex')).toBe(golden.payload);
    });

    it('goes on from a saved state as if it had not stopped', async () => {
      const first = world(3);
      for (let i = 0; i < 3; i++) await first.exchange(i, gradientsOf(3, i));
      const second = world(3);
      second.restore(await first.save());
      for (let i = 3; i < 6; i++) {
        const gradients = gradientsOf(3, i);
        expect(await second.exchange(i, gradients)).toEqual(
          await first.exchange(i, gradients),
        );
        expect(second.sent).toEqual(first.sent);
      }
    });

    it('refuses a state that is not its own', async () => {
      const simulated = world(1);
      const saved = (await simulated.save()).map((one) => ({
        ...one,
        state: Uint8Array.of(...one.state, 1),
      }));
      expect(() => {
        simulated.restore(saved);
      }).toThrow(expect.objectContaining({ code: 'METHOD_STATE_INVALID' }));
    });

    it('allocates nothing in the arena once it has run', async () => {
      const simulated = world(2);
      await simulated.exchange(0, gradientsOf(2, 0));
      const mark = simulated.arena.allocate(1 << 20);
      for (let i = 1; i < 5; i++) await simulated.exchange(i, gradientsOf(2, i));
      const next = simulated.arena.allocate(1 << 20);
      expect(next.offset).toBe(mark.offset + mark.bytes);
    });

    it('gives its memory back', () => {
      const arena = new Arena();
      const [gradient, residual] = [LENGTH, LENGTH].map((n) => arena.allocateVector(n));
      const mark = arena.allocate(16);
      arena.release(mark);
      const definition = findMethod(method);
      const compressor = openInArena({
        arena,
        kernels: makeKernels(arena),
        method: definition,
        context: {
          length: LENGTH,
          tensors: HALVES,
          parameters: validateParameters(definition, parameters),
          seed: 1,
          rank: 0,
          world: 1,
          bucket: 0,
          residual,
        },
        gradient: gradient!,
      });
      compressor[Symbol.dispose]();
      expect(arena.allocate(16).offset).toBe(mark.offset);
    });

    it('takes a bucket of one element', async () => {
      const simulated = new SimulatedWorld({
        method,
        parameters,
        ranks: 2,
        length: 1,
        form: golden.forms[0]!,
        makeKernels,
      });
      const [a, b] = await simulated.exchange(0, [[3], [5]]);
      const { ofThreeAndFive: expected = 4 } = golden;
      expect([...a!, ...b!]).toEqual([expected, expected]);
    });

    it('keeps its promise about replicas', async () => {
      const simulated = world(4);
      const results = await simulated.exchange(0, gradientsOf(4, 0));
      const same = results.every((result) =>
        Buffer.from(result.buffer).equals(Buffer.from(results[0]!.buffer)),
      );
      expect(same).toBe(simulated.method.replicas === 'identical');
    });
  });
});
