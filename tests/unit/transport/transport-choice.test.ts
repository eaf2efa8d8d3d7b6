import { describe, expect, test } from 'vitest';
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
