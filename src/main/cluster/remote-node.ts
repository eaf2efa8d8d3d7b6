/**
 * A machine that is reached by SSH, as a node: its agent is deployed when it is first
 * needed, and its supervisor is spoken to through `attach` there, over the connection that
 * everything of the node shares. Nothing listens on a port for it.
 */
import { randomBytes } from 'node:crypto';
import { failure, type GradwireError } from '../../shared/errors.ts';
import type { NodeEntry } from '../../shared/node-entry.ts';
import { deploy, type Deployment, type DeployOptions } from '../deploy/deployer.ts';
import { findInstalled, type Installed } from '../deploy/installed.ts';
import { preflight, type Preflight } from '../deploy/preflight.ts';
import { uninstall } from '../deploy/uninstall.ts';
import type { Home } from '../home/home.ts';
import { resolveTarget } from '../ssh/config/resolve-target.ts';
import type { SshConnection } from '../ssh/connection.ts';
import type { SshLease, SshPool } from '../ssh/pool.ts';
import type { SshQuestions } from '../ssh/questions.ts';
import type { RemoteStream } from '../ssh/remote-stream.ts';
import { ControlConnection, type ConnectionHandlers } from './control-connection.ts';
import type { NodeAccess, NodeAddresses } from './node-link.ts';

const BASE = '.gradwire';
const EXIT_NONE_RUNS = 3;
/** Of what a login shell may print before the agent speaks. */
const MOST_NOISE_BYTES = 2 ** 20;
const ATTACH_MS = 90_000;

export interface RemoteNodeOptions {
  readonly home: Home;
  readonly pool: SshPool;
  /** Absent: nothing is asked. */
  readonly questions?: SshQuestions | undefined;
  readonly progress?: DeployOptions['progress'];
}

export class RemoteNode implements NodeAccess {
  readonly entry: NodeEntry;
  readonly #options: RemoteNodeOptions;
  #addresses: NodeAddresses | undefined;

  constructor(entry: NodeEntry, options: RemoteNodeOptions) {
    this.entry = entry;
    this.#options = options;
  }

  get name(): string {
    return this.entry.name;
  }

  readonly addresses = (): NodeAddresses => {
    if (this.#addresses !== undefined) return this.#addresses;
    throw failure('NODE_ADDRESS_UNKNOWN', `${this.name} has not been connected`, {
      place: this.name,
    });
  };

  /** What the machine is like. Nothing is written there. */
  async check(signal?: AbortSignal): Promise<Preflight> {
    return await this.#withConnection(
      (connection) => preflight(connection, signal),
      signal,
    );
  }

  /** Brings the agent there without starting anything. */
  async deploy(options: DeployOptions = {}): Promise<Deployment> {
    const { progress } = this.#options;
    return await this.#withConnection(
      (connection) => deploy(connection, this.#options.home, { progress, ...options }),
      options.signal,
    );
  }

  /**
   * Removes all that was brought there or written since, where no run goes on.
   * @returns other machines that share its home and keep theirs
   * @throws GradwireError `NODE_BUSY`
   */
  async uninstall(): Promise<readonly string[]> {
    const supervisor = await this.find({
      push: () => undefined,
      lost: () => undefined,
    });
    if (supervisor !== undefined) {
      const { runs } = await supervisor.request('runs', {});
      const going = runs.filter(({ phase }) => phase !== 'ended');
      await supervisor.close();
      if (going.length > 0) {
        throw failure('NODE_BUSY', `run ${going[0]!.run} goes on there`, {
          place: this.name,
          next: 'Stop it first: gradwire runs stop.',
        });
      }
    }
    return await this.#withConnection(uninstall);
  }

  async find(handlers: ConnectionHandlers): Promise<ControlConnection | undefined> {
    const lease = await this.#lease();
    return await this.#attach(lease, ['--find'], handlers, () =>
      findInstalled(lease.connection),
    );
  }

  async ensure(handlers: ConnectionHandlers): Promise<ControlConnection> {
    const lease = await this.#lease();
    const { home, progress } = this.#options;
    const connection = await this.#attach(lease, [], handlers, () =>
      deploy(lease.connection, home, { progress }),
    );
    if (connection !== undefined) return connection;
    throw attachFailed(this.name, 'its supervisor ended at once');
  }

  /** Undefined where no agent is installed, or no supervisor runs and none is to. */
  async #attach(
    lease: SshLease,
    options: readonly string[],
    handlers: ConnectionHandlers,
    install: () => Promise<Installed | undefined>,
  ): Promise<ControlConnection | undefined> {
    let used = false;
    try {
      const installed = await install();
      if (installed === undefined) return undefined;
      this.#learnAddresses(installed);
      const marker = `gradwire-${randomBytes(12).toString('hex')}`;
      const command = [
        ...['cd;', installed.node, `${BASE}/agents/${installed.agent}/attach.js`],
        ...['--base', BASE, '--agent', installed.agent, '--marker', marker],
        ...options,
      ].join(' ');
      const stream = await lease.connection.stream(command);
      if (!(await skipTo(marker, stream, this.name))) return undefined;
      used = true;
      stream.once('close', () => {
        lease[Symbol.dispose]();
      });
      return await ControlConnection.open(stream, handlers);
    } finally {
      if (!used) lease[Symbol.dispose]();
    }
  }

  #learnAddresses({ connection }: Installed): void {
    const there = this.entry.address ?? connection?.server;
    const here = connection?.client;
    if (there !== undefined && here !== undefined) this.#addresses = { there, here };
  }

  async #withConnection<T>(
    use: (connection: SshConnection) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    using lease = await this.#lease(signal);
    return await use(lease.connection);
  }

  async #lease(signal?: AbortSignal): Promise<SshLease> {
    const { destination, identities, jump } = this.entry;
    const { pool, questions } = this.#options;
    const { target } = await resolveTarget(destination, { identities, jump });
    return await pool.acquire(target, { questions, signal });
  }
}

/**
 * Reads up to the line with the marker; what comes behind it stays to be read.
 * @returns false where the command says that no supervisor runs
 * @throws GradwireError `ATTACH_FAILED`
 */
async function skipTo(
  marker: string,
  stream: RemoteStream,
  node: string,
): Promise<boolean> {
  const wanted = Buffer.from(`${marker}\n`);
  const deadline = setTimeout(() => {
    stream.destroy(attachFailed(node, `it said nothing for ${ATTACH_MS / 1000} s`));
  }, ATTACH_MS);
  try {
    const found = await new Promise<boolean>((resolve, reject) => {
      let seen = Buffer.alloc(0);
      const read = (): void => {
        for (;;) {
          const chunk = stream.read() as Buffer | null;
          if (chunk === null) return;
          seen = Buffer.concat([seen, chunk]);
          const at = seen.indexOf(wanted);
          if (at >= 0) {
            stream.off('readable', read);
            stream.unshift(seen.subarray(at + wanted.length));
            resolve(true);
            return;
          }
          if (seen.length > MOST_NOISE_BYTES) {
            reject(attachFailed(node, 'its login shell prints without end'));
            return;
          }
        }
      };
      stream.on('readable', read);
      stream.once('end', () => {
        resolve(false);
      });
      stream.once('error', reject);
    });
    if (found) return true;
    const { code } = await stream.exit;
    if (code === EXIT_NONE_RUNS) return false;
    throw attachFailed(node, stream.stderr.trim() || `it ended with code ${code}`);
  } finally {
    clearTimeout(deadline);
    stream.removeAllListeners('end');
    stream.removeAllListeners('error');
  }
}

function attachFailed(node: string, reason: string): GradwireError {
  return failure('ATTACH_FAILED', `the agent did not answer: ${reason}`, {
    place: node,
    next: `Look at ~/${BASE}/nodes/…/supervisor.log there; then try again.`,
  });
}
