/** Machines that are not as one would wish: what they print, and when their supervisors go. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInstalled } from '../../../src/main/deploy/installed.ts';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { effort } from '../../harness/effort.ts';
import { handlers, homeOfFile, isRoot, Machine, useAndLeave } from './machine.ts';

const home = homeOfFile();

describe('login shells', () => {
  test('one that prints at every start, without SFTP', { tags: 'soak' }, async () => {
    const noise = 'echo "Welcome to box"; echo gradwire-; printf "no newline"';
    await using machine = await Machine.start(home(), {
      shellStart: noise,
      banner: 'Authorised use only\n',
      sftp: false,
    });
    await useAndLeave(machine);
  });

  const shells = [
    ['csh', '.cshrc', 'setenv PATH'],
    ['fish', '.config/fish/config.fish', 'set -gx PATH'],
  ] as const;
  const others = shells.slice(0, effort({ quick: 1, soak: 2 }));
  test.skipIf(!isRoot).each(others)(
    '%s, the account’s own',
    async (shell, start, setPath) => {
      const loginShell = `/usr/bin/${shell}`;
      await using machine = await Machine.start(home(), { loginShell });
      const file = path.join(machine.server.home, start);
      mkdirSync(path.dirname(file), { recursive: true });
      const noise = 'echo "Welcome to box"';
      await writeFile(
        file,
        `${noise}\n${setPath} ${path.dirname(process.execPath)}:/usr/bin:/bin\n`,
      );
      // Whose syntax would fail in the other: it is that shell.
      const said = { csh: 'echo $shell:t', fish: 'echo (status fish-path)' }[shell]!;
      expect(await machine.says(said)).toContain(shell);
      await useAndLeave(machine);
    },
  );

  test('one that runs no commands is named', async () => {
    const forcedCommand = 'echo This account is not available.';
    await using machine = await Machine.start(home(), { forcedCommand });
    await expect(machine.node.check()).rejects.toMatchObject({
      code: 'SSH_SCRIPT_BROKEN',
      message: expect.stringContaining('This account is not available.') as string,
    });
  });
});

describe('a supervisor there', () => {
  test(
    'that dies is missed at once, and its connection is not held',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const told = Promise.withResolvers<string>();
      const control = await machine.node.ensure({
        run: () => undefined,
        lost: ({ code }) => {
          told.resolve(code);
        },
      });
      process.kill(control.hello.pid, 'SIGKILL');
      expect(await told.promise).toBe('SUPERVISOR_LOST');
      // The next one takes its place.
      await useAndLeave(machine);
    },
  );

  test(
    'that is shutting down does not count, and another one is started',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const { node, base } = machine;
      await node.deploy();
      const own = path.join(base, 'nodes', os.hostname());
      mkdirSync(own, { recursive: true });
      // It takes one more connection and goes, as a process does that ends.
      const leaving = async (): Promise<void> => {
        const last = createServer((socket) => {
          last.close();
          socket.destroy();
        });
        last.listen(path.join(own, 'supervisor.sock'));
        await once(last, 'listening');
      };
      await leaving();
      expect(await node.find(handlers)).toBeUndefined();
      await leaving();
      await useAndLeave(machine);
    },
  );

  test(
    'listens in the home itself, however long its path',
    { tags: 'soak' },
    async () => {
      const long = 'h'.repeat(110);
      await using machine = await Machine.start(home(), {
        shellStart: `HOME=$HOME/${long}; mkdir -p "$HOME"`,
      });
      const base = path.join(machine.server.home, long, '.gradwire');
      // Where it once was: whoever makes this directory first is not believed.
      const own = path.join(base, 'nodes', os.hostname());
      const hash = createHash('sha256').update(own).digest('hex').slice(0, 16);
      const planted = path.join(os.tmpdir(), `gradwire-${os.userInfo().uid}-${hash}`);
      mkdirSync(planted, { mode: 0o777 });
      try {
        const control = await machine.another().ensure(handlers);
        expect(existsSync(path.join(own, 'supervisor.sock'))).toBe(true);
        expect(readdirSync(planted)).toEqual([]);
        await expect(machine.node.uninstall()).rejects.toMatchObject({
          code: 'NODE_BUSY',
        });
        await control.close();
        expect(await machine.node.uninstall()).toEqual([]);
        expect(existsSync(base)).toBe(false);
      } finally {
        rmSync(planted, { recursive: true });
      }
    },
  );
});

test(
  'of the runtimes in a shared home, those of its own processor count',
  { tags: 'soak' },
  async () => {
    await using machine = await Machine.start(home());
    await using connection = await SshConnection.open(machine.server.target());
    const own = process.arch === 'arm64' ? 0xb7 : 0x3e;
    const names = ['a', 'b'].map((digit) => digit.repeat(32));
    // The first bytes of programs for x86_64 and aarch64.
    for (const [index, processor] of [0x3e, 0xb7].entries()) {
      const folder = path.join(machine.base, 'runtimes', names[index]!, 'bin');
      mkdirSync(folder, { recursive: true });
      const start = Buffer.alloc(64);
      start.write('\x7fELF');
      start.writeUInt16LE(processor, 18);
      const program = path.join(folder, 'node');
      if (processor === own) symlinkSync(process.execPath, program);
      else await writeFile(program, start, { mode: 0o755 });
    }
    const { runtimes } = await findInstalled(connection);
    expect(runtimes).toEqual([names[process.arch === 'arm64' ? 1 : 0]]);
  },
);
