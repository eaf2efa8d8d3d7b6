/** The access token that a server on a fixed port finds again. */
import {
  chmod,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { keptToken } from '../../../src/main/serve/kept-token.ts';

const made: string[] = [];
let home: string;
let file: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'gradwire-token-'));
  made.push(home);
  file = path.join(home, 'access-token');
});
afterAll(() => Promise.all(made.map((each) => rm(each, { recursive: true }))));

test('is the same at the next start, and the user’s alone', async () => {
  const first = await keptToken(home);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(await keptToken(home)).toBe(first);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(file);
  expect(await keptToken(home)).not.toBe(first);
});

test.each(['', 'short', 'x'.repeat(44), `${'x'.repeat(43)}\n`])(
  'is made anew if its file is damaged: %j',
  async (text) => {
    await writeFile(file, text, { mode: 0o600 });
    const token = await keptToken(home);
    expect(token).not.toBe(text);
    expect(await keptToken(home)).toBe(token);
  },
);

test('is made anew if others could read it', async () => {
  const first = await keptToken(home);
  await chmod(file, 0o644);
  expect(await keptToken(home)).not.toBe(first);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('does not follow a link, nor write through it', async () => {
  const other = path.join(home, 'other');
  await writeFile(other, 'x'.repeat(43), { mode: 0o600 });
  await symlink(other, file);
  expect(await keptToken(home)).not.toBe('x'.repeat(43));
  expect(await readFile(other, 'utf8')).toBe('x'.repeat(43));
});
