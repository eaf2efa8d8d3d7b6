/** Machines that are not as one would wish: what they print, what they lack, when they go. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  RemoteNode,
  type RemoteNodeOptions,
} from '../../../src/main/cluster/remote-node.ts';
import { findInstalled } from '../../../src/main/deploy/installed.ts';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { parseNodeEntry } from '../../../src/shared/node-entry.ts';
import { until } from '../../harness/processes.ts';
import { SshServer, type SshServerOptions } from '../../harness/sshd.ts';

let home: Home;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gw-machines-'));
  // Everything is packed once for all tests.
  home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

class Machine implements AsyncDisposable {
  readonly server: SshServer;
  readonly node: RemoteNode;
  readonly #pool: SshPool;

  private constructor(server: SshServer, pool: SshPool) {
    this.server = server;
    this.#pool = pool;
    const entry = parseNodeEntry({
      name: 'box',
      destination: `127.0.0.1:${server.port}`,
      identities: [server.key],
    });
    this.node = new RemoteNode(entry, { home, pool });
  }

  static async start(options: SshServerOptions = {}): Promise<Machine> {
    // With Node on its PATH: what a machine without it gets is another file's matter.
    const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n${options.shellStart ?? ''}`;
    const server = await SshServer.start({ ...options, shellStart });
    const confirmedHostKeys = [server.fingerprint()];
    // Not the home's: a later server may get the port of an earlier one.
    const acceptedHostKeys = path.join(server.directory, 'accepted');
    const pool = new SshPool({ acceptedHostKeys, confirmedHostKeys });
    return new Machine(server, pool);
  }

  get base(): string {
    return path.join(this.server.home, '.gradwire');
  }

  /** As another app on another computer sees it. */
  another(progress?: RemoteNodeOptions['progress']): RemoteNode {
    return new RemoteNode(this.node.entry, { home, pool: this.#pool, progress });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

const handlers = { push: () => undefined, lost: () => undefined };

/** Deployed to, its supervisor started and spoken to, and cleared away. */
async function useAndLeave({ node, base }: Machine): Promise<void> {
  const control = await node.ensure(handlers);
  expect(control.hello.catalogue.methods.length).toBeGreaterThan(5);
  await control.close();
  expect(await node.uninstall()).toEqual([]);
  expect(existsSync(base)).toBe(false);
}

const hasShell = (name: string): boolean =>
  ['/bin', '/usr/bin'].some((folder) => existsSync(path.join(folder, name)));

describe('login shells', () => {
  test('one that prints at every start, without SFTP', async () => {
    const noise = 'echo "Welcome to box"; echo gradwire-; printf "no newline"';
    await using machine = await Machine.start({
      ...{ shellStart: noise, banner: 'Authorised use only\n', sftp: false },
    });
    await useAndLeave(machine);
  });

  test.each(['csh', 'fish'].filter(hasShell))('%s', async (shell) => {
    const forcedCommand = `exec ${shell} -c "$SSH_ORIGINAL_COMMAND"`;
    await using machine = await Machine.start({ forcedCommand });
    await useAndLeave(machine);
  });

  test('one that runs no commands is named', async () => {
    const forcedCommand = 'echo This account is not available.';
    await using machine = await Machine.start({ forcedCommand });
    await expect(machine.node.check()).rejects.toMatchObject({
      code: 'SSH_SCRIPT_BROKEN',
      message: expect.stringContaining('This account is not available.') as string,
    });
  });
});

describe('a supervisor there', () => {
  test('that dies is missed at once, and its connection is not held', async () => {
    await using machine = await Machine.start();
    const told = Promise.withResolvers<string>();
    const control = await machine.node.ensure({
      push: () => undefined,
      lost: ({ code }) => {
        told.resolve(code);
      },
    });
    process.kill(control.hello.pid, 'SIGKILL');
    expect(await told.promise).toBe('SUPERVISOR_LOST');
    // The next one takes its place.
    await useAndLeave(machine);
  });

  test('that is shutting down does not count, and another one is started', async () => {
    await using machine = await Machine.start();
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
  });

  test('listens in the home itself, however long its path', async () => {
    const long = 'h'.repeat(110);
    await using machine = await Machine.start({
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
  });
});

describe('what a machine has', () => {
  test('its GPUs are identified by bus, with other users’ processes', async () => {
    await using machine = await Machine.start({ shellStart: 'PATH=$HOME/bin:$PATH' });
    const program = path.join(machine.server.home, 'bin', 'nvidia-smi');
    mkdirSync(path.dirname(program));
    // One process is ours, the other cannot be seen: it is a stranger's.
    const answers = `#!/bin/sh
case "$*" in
  *driver_version*) echo 570.86.10;;
  *memory.total*) echo "00000000:3B:00.0, NVIDIA H100 PCIe, 81559"
    echo "00000000:5E:00.0, NVIDIA H100 PCIe, [N/A]";;
  *compute-apps*) echo "00000000:3B:00.0, $PPID"; echo "00000000:5E:00.0, 99999999";;
esac
`;
    await writeFile(program, answers, { mode: 0o755 });
    const { driver, gpus, findings } = await machine.node.check();
    expect(driver).toBe('570.86.10');
    const card = { name: 'NVIDIA H100 PCIe' };
    expect(gpus).toEqual([
      { ...card, bus: '00000000:3B:00.0', memoryMiB: 81_559, othersProcesses: 0 },
      { ...card, bus: '00000000:5E:00.0', othersProcesses: 1 },
    ]);
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'GPU_IN_USE', level: 'warning' }),
    );
  });
});

test('of the runtimes in a shared home, those of its own processor count', async () => {
  await using machine = await Machine.start();
  await using connection = await SshConnection.open(machine.server.target());
  const names = ['a', 'b'].map((digit) => digit.repeat(32));
  // The first bytes of programs for x86_64 and aarch64.
  for (const [index, processor] of [0x3e, 0xb7].entries()) {
    const folder = path.join(machine.base, 'runtimes', names[index]!, 'bin');
    mkdirSync(folder, { recursive: true });
    const start = Buffer.alloc(64);
    start.write('\x7fELF');
    start.writeUInt16LE(processor, 18);
    await writeFile(path.join(folder, 'node'), start, { mode: 0o755 });
  }
  const { runtimes } = await findInstalled(connection);
  expect(runtimes).toEqual([names[process.arch === 'arm64' ? 1 : 0]]);
});

describe('deploying', () => {
  test('a cut in the middle of an upload leaves nothing whole; the next one succeeds', async () => {
    await using machine = await Machine.start();
    const { node, base, server } = machine;
    let cut: Promise<void> | undefined;
    const watched = machine.another((_, progress) => {
      if ((progress?.doneBytes ?? 0) > 2 ** 20) cut ??= server.cutSessions();
    });
    await expect(watched.deploy()).rejects.toMatchObject({
      code: 'SSH_CONNECTION_LOST',
    });
    await cut;
    const agents = path.join(base, 'agents');
    expect(existsSync(agents) ? readdirSync(agents) : []).toEqual([]);
    expect((await node.deploy()).uploaded).toBeGreaterThan(0);
    expect((await node.deploy()).uploaded).toBe(0);
  });

  test.each([
    ['has lost a file', 'attach.js', undefined],
    ['has an empty one', 'supervisor.js', ''],
  ])('an agent that %s is replaced', async (_, name, content) => {
    await using machine = await Machine.start();
    const { agent } = await machine.node.deploy();
    const file = path.join(machine.base, 'agents', agent, name);
    if (content === undefined) rmSync(file);
    else await writeFile(file, content);
    expect((await machine.node.deploy()).uploaded).toBeGreaterThan(0);
    expect(statSync(file).size).toBeGreaterThan(0);
    expect(readdirSync(path.join(machine.base, 'incoming'))).toEqual([]);
    expect((await machine.node.deploy()).uploaded).toBe(0);
    await useAndLeave(machine);
  });

  test('what somebody is connected to is not uninstalled', async () => {
    await using machine = await Machine.start();
    const control = await machine.another().ensure(handlers);
    await expect(machine.node.uninstall()).rejects.toMatchObject({ code: 'NODE_BUSY' });
    expect(existsSync(machine.base)).toBe(true);
    await control.close();
    expect(await machine.node.uninstall()).toEqual([]);
  });

  test('two at once both succeed', async () => {
    await using machine = await Machine.start();
    const { node, base } = machine;
    const [a, b] = await Promise.all([node.deploy(), machine.another().deploy()]);
    expect(a.agent).toBe(b.agent);
    expect(readdirSync(path.join(base, 'agents'))).toEqual([a.agent]);
    expect(readdirSync(path.join(base, 'incoming'))).toEqual([]);
  });

  test('it can be cancelled, and leaves nothing', async () => {
    await using machine = await Machine.start();
    const controller = new AbortController();
    const watched = machine.another((_, progress) => {
      if ((progress?.doneBytes ?? 0) > 2 ** 20) controller.abort();
    });
    await expect(watched.deploy({ signal: controller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await until(
      () => readdirSync(path.join(machine.base, 'incoming')),
      (left) => left.length === 0,
      'what was uploaded to be removed',
    );
  });

  test('old agents go, the newest two stay, and one that a supervisor runs', async () => {
    await using machine = await Machine.start();
    const agents = path.join(machine.base, 'agents');
    const names = ['1', '2', '3', '4'].map((digit) => digit.repeat(32));
    for (const [index, name] of names.entries()) {
      const folder = path.join(agents, name);
      mkdirSync(folder, { recursive: true });
      // Set: clocks of file systems stand still for moments.
      const at = new Date(Date.now() - (names.length - index) * 60_000);
      utimesSync(folder, at, at);
    }
    const other = path.join(machine.base, 'nodes', 'other');
    mkdirSync(other, { recursive: true });
    await writeFile(path.join(other, 'agent'), `${names[0]}\n`);
    const { agent } = await machine.node.deploy();
    expect(readdirSync(agents).toSorted()).toEqual(
      [names[0], names[3], agent].toSorted(),
    );
    // A home that other machines share keeps what they have.
    expect(await machine.node.uninstall()).toEqual(['other']);
    expect(await readFile(path.join(other, 'agent'), 'utf8')).toContain(names[0]);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'a machine without room is told before anything is written',
    async () => {
      await using machine = await Machine.start();
      const { home: full } = machine.server;
      // The shell's start lies in the home itself.
      const start = await readFile(path.join(full, '.bashrc'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', full]);
      try {
        await writeFile(path.join(full, '.bashrc'), start);
        await expect(machine.node.deploy()).rejects.toMatchObject({
          code: 'DISK_FULL',
        });
        expect(existsSync(machine.base)).toBe(false);
      } finally {
        execFileSync('umount', ['-l', full]);
      }
    },
  );
});
