/**
 * A machine reached by SSH, as a node: the agent is deployed when first needed, and main
 * talks to its supervisor through `attach` there, over the node's one shared connection.
 * No port is needed.
 */
import { randomBytes } from 'node:crypto';
import { failure } from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import { wayTo, type NodeEntry } from '../../shared/machines/node-entry.ts';
import { portRange, type PortRange } from '../../shared/machines/port-range.ts';
import type {
  DeployProgress,
  NodeFacts,
  SupervisorLog,
} from '../../shared/machines/node-status.ts';
import type { Preflight } from '../../shared/machines/preflight.ts';
import { deploy, type Deployment, type DeployOptions } from '../deploy/deployer.ts';
import { attachCommand } from '../deploy/node-launch.ts';
import { BASE, findInstalled, newestAgent, type Agent } from '../deploy/installed.ts';
import { runsOfOtherHosts } from '../deploy/other-hosts.ts';
import { preflight } from '../deploy/preflight.ts';
import { readLog } from '../deploy/supervisor-log.ts';
import { uninstall } from '../deploy/uninstall.ts';
import type { Home } from '../home/home.ts';
import type { RemoteConnection, Terminal } from '../ssh/remote-connection.ts';
import type { SshLease } from '../ssh/pool.ts';
import { aborted } from '../ssh/ssh-errors.ts';
import type { RemoteShell } from '../ssh/remote-stream.ts';
import type { PortForwarding } from './port-forwarding.ts';
import { stopDeadline } from './stop-deadline.ts';
import {
  ControlConnection,
  HELLO_DEADLINE_MS,
  type ConnectionHandlers,
} from './control-connection.ts';
import type { ConnectOptions, NodeAccess, NodeAddresses } from './node-access.ts';
import { attachFailed, skipTo } from './attach-marker.ts';
import { namedRun } from './named-run.ts';
import { openShell } from './node-shells.ts';
import { SshRoute, type SshRouteOptions } from './ssh-route.ts';

/** Least time that a greeting is waited for once the way to the supervisor is open. */
const LEAST_GREETING_MS = 10_000;

export interface RemoteNodeOptions extends SshRouteOptions {
  readonly home: Home;
  readonly progress?: DeployListener | undefined;
  /**
   * Whether connections that no action of the user needs deploy the agent; default: they use
   * the installed one, of whatever version.
   */
  readonly deploysUnasked?: boolean | undefined;
  /** Receives what is found out about the machine. */
  readonly learned?: ((news: NodeFacts) => void) | undefined;
}

/**
 * Receives the steps of a deployment, whoever needs it, and how to cancel it, which is the same
 * function from its first step to its end; undefined at its end.
 */
export type DeployListener = (
  node: string,
  progress: DeployProgress | undefined,
  cancel: () => void,
) => void;

interface AttachOptions {
  readonly arguments: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export class RemoteNode implements NodeAccess {
  readonly entry: NodeEntry;
  readonly #options: RemoteNodeOptions;
  readonly #route: SshRoute;
  #addresses: NodeAddresses | undefined;

  constructor(entry: NodeEntry, options: RemoteNodeOptions) {
    this.entry = entry;
    this.#options = options;
    this.#route = new SshRoute(entry, options);
  }

  get name(): string {
    return this.entry.name;
  }

  get slurm(): NodeEntry['slurm'] {
    return this.entry.slurm;
  }

  get identity(): string {
    return wayTo(this.entry);
  }

  get ports(): PortRange | undefined {
    const { ports } = this.entry;
    return ports === undefined ? undefined : portRange(ports);
  }

  readonly addresses = (): NodeAddresses => {
    if (this.#addresses !== undefined) return this.#addresses;
    throw failure('NODE_ADDRESS_UNKNOWN', `${this.name} has not been connected`, {
      place: this.name,
    });
  };

  readonly copying = (
    progress: DeployProgress | undefined,
    cancel: () => void,
  ): void => {
    this.#options.progress?.(this.name, progress, cancel);
  };

  readonly forwardPorts = async (): Promise<PortForwarding> => {
    const lease = await this.#route.lease({ interactive: false });
    const { connection } = lease;
    return {
      listen: (accept) => connection.listen(accept),
      connect: (host, port) => connection.forward(host, port),
      [Symbol.dispose]: () => {
        lease[Symbol.dispose]();
      },
    };
  };

  readonly elsewhere = async (
    runs: readonly string[],
  ): Promise<ReadonlyMap<string, string>> => {
    using lease = await this.#route.lease({ interactive: false });
    return await runsOfOtherHosts(lease.connection, runs);
  };

  /** Inspects the machine. Writes nothing there. */
  async check(signal?: AbortSignal): Promise<Preflight> {
    return await this.#withConnection(async (connection) => {
      const { transport, notices: unread } = await this.#route.resolve();
      const { slurm } = this;
      const seen = await preflight(connection, { signal, slurm });
      const notices = [...new Set([...unread, ...connection.notices])];
      const report = { ...seen, transport, notices };
      this.#options.learned?.({ preflight: report, checkedAt: Date.now() });
      return report;
    }, signal);
  }

  /** Deploys or repairs the agent without starting anything. */
  async deploy(options: Pick<DeployOptions, 'signal'> = {}): Promise<Deployment> {
    return await this.#withConnection(
      (connection) => this.#bring(connection, { verify: true, ...options }),
      options.signal,
    );
  }

  /**
   * Removes everything deployed or written there, unless a run is in progress.
   * @returns other machines that share its home and keep theirs
   * @param force also remove records that no app has stored
   * @param signal cancels it until it removes something
   * @throws GradwireError `NODE_BUSY`, `RECORDS_WAITING`
   */
  async uninstall(force = false, signal?: AbortSignal): Promise<readonly string[]> {
    const runs = await this.runs({ signal });
    if (runs !== undefined) {
      const going = runs.filter(({ phase }) => phase !== 'ended');
      if (going.length > 0) {
        throw failure('NODE_BUSY', `run ${going[0]!.run} is in progress there`, {
          place: this.name,
          next: `Stop it first: gradwire runs stop ${going[0]!.run} --on ${this.name}.`,
        });
      }
    }
    const served = runs !== undefined;
    const left = await this.#withConnection(
      (connection) => uninstall(connection, { served, force, signal }),
      signal,
    );
    this.#options.learned?.({ agent: undefined });
    return left;
  }

  /** The last lines of its supervisor's log. */
  async log(lines: number): Promise<SupervisorLog> {
    return await this.#withConnection((connection) => readLog(connection, lines));
  }

  /**
   * The runs that its supervisor has, whoever started them; undefined if none runs there.
   * Starts nothing, and keeps no connection to the supervisor.
   */
  async runs(options?: ConnectOptions): Promise<readonly RunStatus[] | undefined> {
    return await this.#once(options, async (supervisor) => {
      const { runs } = await supervisor.request('runs', {});
      return runs;
    });
  }

  /**
   * Stops a run there, whoever started it. Resolves when it has ended on this machine.
   * @param wanted its id or the start of it
   * @param now whether its processes are ended, without waiting for the current iteration
   * @returns its id
   * @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
   */
  async stopRun(wanted: string, now = false): Promise<string> {
    const stopped = await this.#once(undefined, async (supervisor) => {
      const { runs } = await supervisor.request('runs', {});
      const { run, spec } = namedRun(runs, wanted, this.name);
      await supervisor.request('stop', { run, now }, stopDeadline(spec));
      return run;
    });
    return stopped ?? namedRun([], wanted, this.name).run;
  }

  /** Uses a connection to a running supervisor; undefined if there is none. */
  async #once<T>(
    options: ConnectOptions | undefined,
    use: (supervisor: ControlConnection) => Promise<T>,
  ): Promise<T | undefined> {
    const nothing = (): void => undefined;
    const supervisor = await this.find({ run: nothing, lost: nothing }, options);
    if (supervisor === undefined) return undefined;
    try {
      return await use(supervisor);
    } finally {
      await supervisor.close();
    }
  }

  /**
   * The user's login shell at a terminal of that size.
   * @throws GradwireError `TERMINAL_LIMIT` and those of the connection
   */
  async shell(terminal: Terminal, signal?: AbortSignal): Promise<RemoteShell> {
    return await openShell(this.#route, terminal, signal);
  }

  async find(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection | undefined> {
    const lease = await this.#route.lease(options);
    const signal = options?.signal;
    const how = { arguments: ['--find'], signal };
    return await this.#attach(lease, how, handlers, async () =>
      newestAgent(await findInstalled(lease.connection, signal)),
    );
  }

  async ensure(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection> {
    const lease = await this.#route.lease(options);
    const signal = options?.signal;
    const isAsked = options?.interactive !== false;
    const mayDeploy = isAsked || this.#options.deploysUnasked === true;
    const how = { arguments: [], signal };
    const connection = await this.#attach(lease, how, handlers, async () =>
      mayDeploy
        ? this.#bring(lease.connection, { signal })
        : newestAgent(await findInstalled(lease.connection, signal)),
    );
    if (connection !== undefined) return connection;
    if (mayDeploy) throw attachFailed(this.name, 'its supervisor ended at once');
    throw failure('AGENT_MISSING', 'Gradwire’s agent is not installed there any more', {
      place: this.name,
      next: `Deploy it: gradwire nodes deploy ${this.name}.`,
    });
  }

  /**
   * Connects to the supervisor. Undefined if no agent is installed, or if no supervisor runs
   * and none may be started.
   */
  async #attach(
    lease: SshLease,
    { arguments: options, signal }: AttachOptions,
    handlers: ConnectionHandlers,
    install: () => Promise<Agent | undefined>,
  ): Promise<ControlConnection | undefined> {
    let used = false;
    try {
      const there = await install();
      this.#options.learned?.({ agent: there?.agent });
      if (there === undefined) return undefined;
      this.#learnAddresses(there);
      const marker = `gradwire-${randomBytes(12).toString('hex')}`;
      const about = ['--base', BASE, '--agent', there.agent, '--marker', marker];
      const command = attachCommand(there, [...about, ...options]);
      const stream = await lease.connection.stream(command);
      const end = performance.now() + HELLO_DEADLINE_MS;
      if (!(await skipTo(marker, stream, this.name, signal))) return undefined;
      used = true;
      stream.once('close', () => {
        lease[Symbol.dispose]();
      });
      // Where nothing greets, `attach` has waited for it before.
      const patience = Math.max(end - performance.now(), LEAST_GREETING_MS);
      return await ControlConnection.open(stream, handlers, this.name, patience);
    } finally {
      if (!used) lease[Symbol.dispose]();
    }
  }

  async #bring(
    connection: RemoteConnection,
    options: Pick<DeployOptions, 'signal' | 'verify'> = {},
  ): Promise<Deployment> {
    const { home, progress } = this.#options;
    const controller = new AbortController();
    const cancel = (): void => {
      controller.abort();
    };
    const signals = [controller.signal, options.signal].filter(
      (signal) => signal !== undefined,
    );
    try {
      const deployment = await deploy(connection, home, {
        ...options,
        slurm: this.slurm !== undefined,
        signal: AbortSignal.any(signals),
        progress: (step) => progress?.(this.name, step, cancel),
      });
      // A deployment that was cancelled during its last step still ends here: nothing may follow it.
      if (controller.signal.aborted) throw aborted(connection.target, 'the deployment');
      this.#options.learned?.({ agent: deployment.agent });
      return deployment;
    } finally {
      progress?.(this.name, undefined, cancel);
    }
  }

  #learnAddresses({ connection }: Agent): void {
    const { address } = this.entry;
    const there = address ?? connection?.server;
    const here = connection?.client;
    if (there === undefined || here === undefined) return;
    this.#addresses = { there, here, chosen: address !== undefined };
  }

  async #withConnection<T>(
    use: (connection: RemoteConnection) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    using lease = await this.#route.lease({ signal });
    return await use(lease.connection);
  }
}
