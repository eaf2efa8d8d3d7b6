import { describe, expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import { packState, unpackState } from '../../../src/agent/methods/saved-state.ts';
import { LoneCompressor } from './lone-compressor.ts';

describe('a saved state', () => {
  const state = packState('dct', Uint32Array.of(7), Float32Array.of(0.5, -2));

  it('is restored exactly, from bytes at any offset', () => {
    const moved = new Uint8Array(state.length + 3);
    moved.set(state, 3);
    const origin = new Uint32Array(1);
    const thresholds = new Float32Array(2);
    unpackState('dct', moved.subarray(3), origin, thresholds);
    expect([origin[0], ...thresholds]).toEqual([7, 0.5, -2]);
  });

  it.each([
    ['of another method', 'dgc', state, 2],
    ['of another model', 'dct', state, 3],
    ['cut short', 'dct', state.subarray(0, 15), 2],
    ['too long', 'dct', Uint8Array.of(...state, 0), 2],
    ['of nothing', 'dct', new Uint8Array(0), 2],
  ])('is refused if it is %s, and nothing is written', (_, method, bytes, tensors) => {
    const origin = Uint32Array.of(99);
    const thresholds = new Float32Array(tensors);
    expect(() => {
      unpackState(method, bytes, origin, thresholds);
    }).toThrow(expect.objectContaining({ code: 'METHOD_STATE_INVALID' }));
    expect(origin[0]).toBe(99);
  });

  it.each([...methods.keys()])(
    'of %s is declared where there is one, so that a switch can carry it',
    async (method) => {
      const lone = new LoneCompressor({ method, tensors: [40, 24] });
      await lone.roundTrip(Float32Array.from({ length: 64 }, (_, i) => i - 31.5));
      const declared = methods.get(method)!.stateHolds !== undefined;
      expect(declared).toBe((await lone.compressor.save()).length > 0);
    },
  );
});
