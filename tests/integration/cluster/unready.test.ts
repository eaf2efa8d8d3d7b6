/**
 * Machines that keep our Node from running, or seem to: what their start files set, their shell, a
 * home that has become read-only, libraries that are too old.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeOfFile, Machine } from './machine.ts';

const home = homeOfFile();
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const nothing = (): void => undefined;

/** Deploys, and connects to a supervisor that is started there. */
async function use({ node }: Machine): Promise<void> {
  await node.deploy();
  const supervisor = await node.ensure({ run: nothing, lost: nothing });
  expect(await supervisor.request('runs', {})).toEqual({ runs: [] });
  await supervisor.close();
}

const errorsOf = async ({ node }: Machine): Promise<readonly string[]> =>
  (await node.check()).findings
    .filter(({ level }) => level === 'error')
    .map(({ code, message }) => `${code}: ${message}`);

test('what start files set for other programs does not reach our Node', async () => {
  await using machine = await Machine.start(home(), {
    shellStart: [
      'export LD_LIBRARY_PATH=$HOME/lib NODE_OPTIONS=--no-such-option',
      'export NODE_PATH=/nowhere OPENSSL_CONF=/nowhere LD_PRELOAD=',
      // Another limit than the one that cannot be raised again.
      'ulimit -S -v 4000000',
    ].join('\n'),
  });
  // The loader refuses it, and with it a Node that finds it.
  mkdirSync(path.join(machine.server.home, 'lib'));
  writeFileSync(path.join(machine.server.home, 'lib/libstdc++.so.6'), '');
  const { findings, node } = await machine.node.check();
  expect(node).toBe(process.version);
  expect(findings.filter(({ code }) => !code.startsWith('VULKAN'))).toEqual([
    {
      level: 'warning',
      code: 'VARIABLES_LEFT_OUT',
      message: expect.stringMatching(
        /set LD_LIBRARY_PATH, NODE_OPTIONS, NODE_PATH, OPENSSL_CONF: /,
      ) as string,
    },
  ]);
  await use(machine);
});

test('limits of start files are told with their numbers', async () => {
  await using machine = await Machine.start(home(), {
    shellStart: 'ulimit -v 4000000; ulimit -n 60',
  });
  expect(await errorsOf(machine)).toEqual([
    'ADDRESS_SPACE_LIMITED: a process may use 3906 MiB of address space (ulimit -v), and a rank needs 11718',
    expect.stringMatching('^OPEN_FILES_LIMITED: a process may open 60 files'),
  ]);
});

test('a Node that does not start there ends the deployment with what it said', async () => {
  await using machine = await Machine.start(home(), {
    shellStart: 'PATH=$HOME/bin:$PATH',
  });
  const said = "/lib64/libc.so.6: version `GLIBC_2.28' not found (required by node)";
  const bin = path.join(machine.server.home, 'bin');
  mkdirSync(bin);
  writeFileSync(
    path.join(bin, 'node'),
    `#!/bin/sh\n[ "$*" = --version ] && exec echo v24.99.0\necho "${said.replace('`', '\\`')}" >&2; exit 1\n`,
    { mode: 0o755 },
  );
  await expect(machine.node.deploy()).rejects.toMatchObject({
    code: 'NODE_UNUSABLE',
    message: `the deployed Node does not start there: ${said}`,
    next: expect.stringContaining('glibc 2.28 or newer') as string,
  });
});

describe.skipIf(!isRoot)('with mounts of its own', () => {
  test.skipIf(!existsSync('/bin/rbash'))(
    'a restricted shell is enough',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home(), { loginShell: '/bin/rbash' });
      expect(await machine.says('cd / 2>&1; echo > x 2>&1')).toMatch(/restricted/);
      expect(await errorsOf(machine)).toEqual([]);
      await use(machine);
    },
  );

  test(
    'a home that has become read-only is told as such',
    { tags: 'soak' },
    async () => {
      const script = [
        'if [ -e "$HOME/../read-only" ]; then exec unshare --mount --propagation private sh -c ',
        `'mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" && exec bash -c "$SSH_ORIGINAL_COMMAND"'; `,
        'else exec bash -c "$SSH_ORIGINAL_COMMAND"; fi',
      ];
      await using machine = await Machine.start(home(), {
        forcedCommand: script.join(''),
      });
      await machine.node.deploy();
      writeFileSync(path.join(machine.server.directory, 'read-only'), '');
      // Nothing has to be written to see that no supervisor runs.
      expect(await machine.node.runs()).toBeUndefined();
      expect(await errorsOf(machine)).toEqual([
        `HOME_READ_ONLY: ${machine.server.home} is not writable`,
      ]);
      const handlers = { run: nothing, lost: nothing };
      await expect(machine.node.ensure(handlers)).rejects.toMatchObject({
        code: 'HOME_READ_ONLY',
        message: expect.stringMatching(
          /^the home there cannot be written: EROFS/,
        ) as string,
        place: 'box',
      });
      await expect(machine.node.uninstall()).rejects.toMatchObject({
        code: 'UNINSTALL_FAILED',
        message: expect.stringMatching(/Read-only file system/) as string,
      });
    },
  );
});
