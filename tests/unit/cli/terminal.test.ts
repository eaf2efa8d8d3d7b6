import { afterEach, expect, test, vi } from 'vitest';
import { liveWidth, rewrites, tableWidth } from '../../../src/cli/text/terminal.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  for (const [name, property] of Object.entries(own)) {
    if (property === undefined) Reflect.deleteProperty(process.stdout, name);
    else Object.defineProperty(process.stdout, name, property);
  }
});

const own = Object.fromEntries(
  ['columns', 'isTTY'].map((name) => [
    name,
    Object.getOwnPropertyDescriptor(process.stdout, name),
  ]),
);

function stdoutHas(values: { isTTY: boolean; columns: number | undefined }): void {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(process.stdout, name, { value, configurable: true });
  }
}

test('lines are written anew in a terminal that can, and nowhere else', () => {
  vi.stubEnv('TERM', 'xterm-256color');
  expect(rewrites({ isTTY: true })).toBe(true);
  expect(rewrites({ isTTY: false })).toBe(false);
  expect(rewrites({})).toBe(false);
  vi.stubEnv('TERM', 'dumb');
  expect(rewrites({ isTTY: true })).toBe(false);
});

test('a terminal that does not know its width has none', () => {
  vi.stubEnv('TERM', 'xterm-256color');
  stdoutHas({ isTTY: true, columns: 80 });
  expect([tableWidth(false), liveWidth()]).toEqual([80, 80]);
  expect(tableWidth(true)).toBeUndefined();
  for (const columns of [0, undefined]) {
    stdoutHas({ isTTY: true, columns });
    expect([tableWidth(false), liveWidth()]).toEqual([undefined, undefined]);
  }
  stdoutHas({ isTTY: false, columns: 80 });
  expect([tableWidth(false), liveWidth()]).toEqual([undefined, undefined]);
});
