import { afterEach, describe, expect, test, vi } from 'vitest';
import { chooseTransport } from '../../../src/agent/transport/transport-choice.ts';

describe('where libc can be called', () => {
  test.each([
    ['auto', 'native'],
    ['native', 'native'],
    ['tcp', 'tcp'],
  ] as const)('%s is %s', async (wanted, kind) => {
    const chosen = await chooseTransport(wanted);
    expect(chosen).toMatchObject({ kind, fallback: undefined });
    expect(chosen.libc !== undefined).toBe(kind === 'native');
  });
});

// Whatever the reason, as with koffi's on Node 24.0 to 24.8 once.
describe('where the test of libc throws', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  test('auto is tcp, and says why; native is refused', async () => {
    vi.resetModules();
    vi.stubGlobal('SharedArrayBuffer', undefined);
    const fresh = await import('../../../src/agent/transport/transport-choice.ts');
    const reason = /koffi does not work with Node .*SharedArrayBuffer/;
    expect(await fresh.chooseTransport('auto')).toEqual({
      kind: 'tcp',
      libc: undefined,
      fallback: expect.stringMatching(reason) as string,
    });
    await expect(fresh.chooseTransport('native')).rejects.toMatchObject({
      ...{
        code: 'NATIVE_UNAVAILABLE',
        message: expect.stringMatching(reason) as string,
      },
    });
  });
});
