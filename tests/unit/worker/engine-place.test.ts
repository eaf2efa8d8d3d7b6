import { describe, expect, it } from 'vitest';
import {
  besideGpu,
  enginePlace,
  type EnginePlace,
} from '../../../src/agent/worker/engine/engine-place.ts';

type Spec = Parameters<typeof enginePlace>[0]['spec'];

const world = { ranks: 2 };

describe('the place of an engine', () => {
  it.each<
    [Spec['engine'], Spec['backend'], EnginePlace, boolean, EnginePlace | undefined]
  >([
    // What the spec says holds, whatever there is.
    ['thread', 'webgpu', 'inline', true, 'thread'],
    ['inline', 'wasm', 'thread', false, 'inline'],
    // On a GPU it is beside the trainer, however many cores there are.
    ['auto', 'webgpu', 'thread', true, 'inline'],
    ['auto', 'webgpu', 'thread', false, 'inline'],
    // On the CPU cores decide.
    ['auto', 'wasm', 'thread', true, 'thread'],
    ['auto', 'wasm', 'inline', true, 'inline'],
    ['auto', 'auto', 'thread', false, 'thread'],
    // Either way inline: nothing to wait for.
    ['auto', 'auto', 'inline', true, 'inline'],
    ['auto', 'auto', 'thread', true, undefined],
  ])('engine %s, backend %s, by cores %s, a GPU %s: %s', (...row) => {
    const [engine, backend, byCores, gpu, expected] = row;
    const spec = { engine, backend, world };
    const question = { spec, byCores, mayHaveGpu: () => gpu };
    expect(enginePlace(question)).toBe(expected);
  });

  it('is a thread of its own where a server answers while its rank computes', () => {
    const parallelism = { kind: 'asynchronous' } as const;
    const spec = { engine: 'auto', backend: 'auto', parallelism, world } as const;
    const question = { spec, byCores: 'inline', mayHaveGpu: () => true } as const;
    expect(enginePlace(question)).toBe('thread');
  });

  it.each<[Partial<Spec>, EnginePlace]>([
    [{}, 'inline'],
    [{ parallelism: { kind: 'local-steps', every: 4 } }, 'inline'],
    // It compresses while the next gradient is computed.
    [{ doubleBuffer: true }, 'thread'],
    [{ overlap: true }, 'thread'],
    [{ engine: 'thread' }, 'thread'],
  ])('of a rank that is alone, with %j: %s', (given, expected) => {
    const spec: Spec = {
      engine: 'auto',
      backend: 'auto',
      world: { ranks: 1 },
      ...given,
    };
    const question = { spec, byCores: 'thread', mayHaveGpu: () => true } as const;
    expect(enginePlace(question)).toBe(expected);
  });

  it('does not look for a GPU that cannot matter', () => {
    const mayHaveGpu = (): never => {
      throw new Error('looked');
    };
    const spec = { engine: 'auto', backend: 'wasm', world } as const;
    expect(enginePlace({ spec, byCores: 'thread', mayHaveGpu })).toBe('thread');
  });

  it.each<['wasm' | 'webgpu', EnginePlace, EnginePlace]>([
    ['webgpu', 'thread', 'inline'],
    ['webgpu', 'inline', 'inline'],
    ['wasm', 'thread', 'thread'],
    ['wasm', 'inline', 'inline'],
  ])(
    'a trainer that turned out to be on %s, by cores %s: %s',
    (backend, byCores, place) => {
      expect(besideGpu({ backend }, byCores)).toBe(place);
    },
  );
});
