/** A machine of tests: an sshd of its own, and the machine as the app sees it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  RemoteNode,
  type RemoteNodeOptions,
} from '../../../src/main/cluster/remote-node.ts';
import { preflight } from '../../../src/main/deploy/preflight.ts';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import type { Preflight } from '../../../src/shared/machines/preflight.ts';
import { sharePackages } from '../../harness/gradwire.ts';
import { SshServer, type SshServerOptions } from '../../harness/sshd.ts';

/** The home of the app that deploys. */
export function homeOfFile(): () => Home {
  let directory: string;
  let home: Home;
  beforeAll(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'gw-machines-'));
    sharePackages(directory);
    home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  return () => home;
}

/** Mounts need root; csh and fish are then among the prerequisites. */
export const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Handlers of a connection to a supervisor from which nothing is awaited. */
export const handlers = { run: () => undefined, lost: () => undefined };

export class Machine implements AsyncDisposable {
  readonly server: SshServer;
  readonly node: RemoteNode;
  readonly #home: Home;
  readonly #pool: SshPool;

  private constructor(home: Home, server: SshServer, pool: SshPool) {
    this.server = server;
    this.#home = home;
    this.#pool = pool;
    const entry = parseNodeEntry({
      name: 'box',
      destination: `127.0.0.1:${server.port}`,
      identities: [server.key],
    });
    this.node = new RemoteNode(entry, { home, pool });
  }

  /** @param home of the app that deploys there */
  static async start(home: Home, options: SshServerOptions = {}): Promise<Machine> {
    // With Node on its PATH: what a machine without it gets is another file's matter.
    const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n${options.shellStart ?? ''}`;
    const server = await SshServer.start({ ...options, shellStart });
    const confirmedHostKeys = [server.fingerprint()];
    // Not the home's: a later server may get the port of an earlier one.
    const acceptedHostKeys = path.join(server.directory, 'accepted');
    const pool = new SshPool({ acceptedHostKeys, confirmedHostKeys });
    return new Machine(home, server, pool);
  }

  get base(): string {
    return path.join(this.server.home, '.gradwire');
  }

  /** As another app on another computer sees it. */
  another(progress?: RemoteNodeOptions['progress']): RemoteNode {
    return new RemoteNode(this.node.entry, {
      home: this.#home,
      pool: this.#pool,
      progress,
    });
  }

  /** What a command of its login shell prints. */
  async says(command: string): Promise<string> {
    using lease = await this.#pool.acquire(this.server.target());
    return (await lease.connection.run(command)).stdout;
  }

  /** Its check, with less patience for tools. */
  async check(toolSeconds: number, shellMs?: number): Promise<Preflight> {
    using lease = await this.#pool.acquire(this.server.target());
    return await preflight(lease.connection, { toolSeconds, shellMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Deployed to, its supervisor started and spoken to, and cleared away. */
export async function useAndLeave({ node, base }: Machine): Promise<void> {
  const control = await node.ensure(handlers);
  expect(control.hello.catalogue.methods.length).toBeGreaterThan(5);
  await control.close();
  expect(await node.uninstall()).toEqual([]);
  expect(existsSync(base)).toBe(false);
}
