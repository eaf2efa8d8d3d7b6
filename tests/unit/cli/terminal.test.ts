import { afterEach, expect, test, vi } from 'vitest';
import { rewrites } from '../../../src/cli/text/terminal.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('lines are written anew in a terminal that can, and nowhere else', () => {
  vi.stubEnv('TERM', 'xterm-256color');
  expect(rewrites({ isTTY: true })).toBe(true);
  expect(rewrites({ isTTY: false })).toBe(false);
  expect(rewrites({})).toBe(false);
  vi.stubEnv('TERM', 'dumb');
  expect(rewrites({ isTTY: true })).toBe(false);
});
