import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';

let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(path.join(os.tmpdir(), 'gradwire-home-'));
});
afterAll(() => rm(temporary, { recursive: true }));

test.each([
  [{ GRADWIRE_HOME: '/x/y' }, 'linux', '/x/y'],
  [{ XDG_DATA_HOME: '/data' }, 'linux', '/data/gradwire'],
  [
    { XDG_DATA_HOME: 'relative' },
    'linux',
    path.join(os.homedir(), '.local/share/gradwire'),
  ],
  [{ GRADWIRE_HOME: '' }, 'linux', path.join(os.homedir(), '.local/share/gradwire')],
  [{}, 'darwin', path.join(os.homedir(), 'Library/Application Support/gradwire')],
  [{ LOCALAPPDATA: '/local' }, 'win32', '/local/gradwire'],
] as const)('%o on %s is %s', (environment, platform, expected) => {
  expect(resolveHome(environment, platform).directory).toBe(expected);
});

test.each(['', 'relative'])('a HOME of %j is none', (home) => {
  vi.stubEnv('HOME', home);
  expect(resolveHome({}, 'linux').directory).toBe(
    path.join(os.userInfo().homedir, '.local/share/gradwire'),
  );
  vi.unstubAllEnvs();
});

test('a socket is in its home, however long its path, except on macOS and Windows', () => {
  const of = (home: string, platform: NodeJS.Platform) =>
    resolveHome({ GRADWIRE_HOME: home }, platform);
  const long = `/${'é'.repeat(60)}`;
  expect(of('/x', 'linux')).toMatchObject({
    socket: '/x/supervisor.sock',
    formerSocket: undefined,
  });
  expect(of(long, 'linux').socket).toBe(`${long}/supervisor.sock`);
  // Where older versions put it.
  expect(of(long, 'linux').formerSocket).toMatch(
    /gradwire-[0-9a-f]{16}.supervisor\.sock$/,
  );
  const { socket } = of(long, 'darwin');
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(103);
  expect(socket.startsWith(os.userInfo().homedir)).toBe(true);
  expect(of(`/${'è'.repeat(60)}`, 'darwin').socket).not.toBe(socket);
  expect(of('/x', 'darwin').socket).toBe('/x/supervisor.sock');
  expect(of('/x', 'win32').socket).toMatch(/^\\\\\.\\pipe\\/);
});

test('is made private, with the directory of its socket', async () => {
  const deep = path.join(temporary, 'd'.repeat(120), 'home');
  const home = await openHome(resolveHome({ GRADWIRE_HOME: deep }));
  for (const directory of [home.directory, path.dirname(home.socket)]) {
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  }
});

test.each([0o755, 0o777])(
  'an existing one of mode %o is made private',
  async (mode) => {
    const directory = await mkdtemp(path.join(temporary, 'open-'));
    await chmod(directory, mode);
    const notices: string[] = [];
    const open = () =>
      openHome(resolveHome({ GRADWIRE_HOME: directory }), (text) => notices.push(text));
    await open();
    await open();
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(notices).toEqual([expect.stringContaining(directory)]);
  },
);

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot)('one of another user is refused, and left as it is', async () => {
  const directory = await mkdtemp(path.join(temporary, 'theirs-'));
  await chmod(directory, 0o755);
  await chown(directory, 12_345, 12_345);
  await expect(
    openHome(resolveHome({ GRADWIRE_HOME: directory })),
  ).rejects.toMatchObject({
    code: 'HOME_UNUSABLE',
    message: expect.stringContaining('uid 12345') as string,
  });
  expect((await stat(directory)).mode & 0o777).toBe(0o755);
});

test('a file in its place is a coded error', async () => {
  const file = path.join(temporary, 'file');
  await writeFile(file, '');
  await expect(openHome(resolveHome({ GRADWIRE_HOME: file }))).rejects.toMatchObject({
    code: 'HOME_UNUSABLE',
    kind: 'input',
  });
});
