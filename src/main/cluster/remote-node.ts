/**
 * A machine reached by SSH, as a node: the agent is deployed when first needed, and main
 * talks to its supervisor through `attach` there, over the node's one shared connection.
 * No port is needed.
 */
import { randomBytes } from 'node:crypto';
import {
  failure,
  GradwireError,
  inputError,
  withNotices,
} from '../../shared/errors/errors.ts';
import { toldError } from '../../shared/protocol/sent-error.ts';
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
import { preflight } from '../deploy/preflight.ts';
import { readLog } from '../deploy/supervisor-log.ts';
import { uninstall } from '../deploy/uninstall.ts';
import type { Home } from '../home/home.ts';
import { resolveTarget, type ResolvedTarget } from '../ssh/config/resolve-target.ts';
import type { RemoteConnection, Terminal } from '../ssh/remote-connection.ts';
import type { AcquireOptions, SshLease, SshPool } from '../ssh/pool.ts';
import { aborted } from '../ssh/ssh-errors.ts';
import type { SshTarget } from '../ssh/target.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import type { RemoteShell, RemoteStream } from '../ssh/remote-stream.ts';
import type { PortForwarding } from './port-forwarding.ts';
import { stopDeadline } from './stop-deadline.ts';
import {
  ControlConnection,
  HELLO_DEADLINE_MS,
  type ConnectionHandlers,
} from './control-connection.ts';
import type { ConnectOptions, NodeAccess, NodeAddresses } from './node-link.ts';

/**
 * The most terminals on each SSH connection. sshd allows 10 sessions on one by default
 * (MaxSessions); the first connection needs some for checks, deployments and runs.
 */
const SHELLS_PER_CONNECTION = [4, 8, 8];
const EXIT_NONE_RUNS = 3;
/** No supervisor may start there; the last line on stderr is the error, as JSON. */
const EXIT_REFUSED = 4;
/** Most output of a login shell before the agent's first output. */
const MOST_NOISE_BYTES = 2 ** 20;
const ATTACH_MS = 90_000;
/** Least time that a greeting is waited for once the way to the supervisor is open. */
const LEAST_GREETING_MS = 10_000;
/** Errors of the built-in client with servers that only the system's `ssh` understands. */
const NOT_UNDERSTOOD = new Set(['SSH_NO_COMMON_ALGORITHM', 'SSH_PACKET_TOO_LARGE']);
/** Log-in errors with which another client may succeed. */
const NOT_LET_IN = new Set(['SSH_AUTH_FAILED', 'SSH_KEY_UNSUPPORTED']);

export interface RemoteNodeOptions {
  readonly home: Home;
  readonly pool: SshPool;
  /** Receives the target before each attempt to connect. */
  readonly reaches?: ((target: SshTarget) => void) | undefined;
  /** Default: nothing is asked. */
  readonly questions?: SshQuestions | undefined;
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
 * Receives the steps of a deployment, whoever needs it, and how to cancel it; undefined at
 * its end.
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
  #addresses: NodeAddresses | undefined;
  /** The reason why the built-in client cannot reach the node, though its settings would let it. */
  #notBuiltin: string | undefined;

  constructor(entry: NodeEntry, options: RemoteNodeOptions) {
    this.entry = entry;
    this.#options = options;
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

  readonly forwardPorts = async (): Promise<PortForwarding> => {
    const lease = await this.#lease({ interactive: false });
    const { connection } = lease;
    return {
      listen: (accept) => connection.listen(accept),
      connect: (host, port) => connection.forward(host, port),
      [Symbol.dispose]: () => {
        lease[Symbol.dispose]();
      },
    };
  };

  /** Inspects the machine. Writes nothing there. */
  async check(signal?: AbortSignal): Promise<Preflight> {
    return await this.#withConnection(async (connection) => {
      const { transport, notices: unread } = await this.#resolve();
      const slurm = this.slurm !== undefined;
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
   * @returns its id
   * @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
   */
  async stopRun(wanted: string): Promise<string> {
    const stopped = await this.#once(undefined, async (supervisor) => {
      const { runs } = await supervisor.request('runs', {});
      const { run, spec } = namedRun(runs, wanted, this.name);
      await supervisor.request('stop', { run }, stopDeadline(spec));
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
    const supervisor = await this.find({ push: nothing, lost: nothing }, options);
    if (supervisor === undefined) return undefined;
    try {
      return await use(supervisor);
    } finally {
      await supervisor.close();
    }
  }

  /**
   * The user's login shell at a terminal of that size. The connection is held until the
   * shell's stream has closed. A few shells use the connection for everything; more get
   * further ones, so that they leave it room.
   * @throws GradwireError `TERMINAL_LIMIT` and those of the connection
   */
  async shell(terminal: Terminal, signal?: AbortSignal): Promise<RemoteShell> {
    let others = 0;
    for (const [further, room] of SHELLS_PER_CONNECTION.entries()) {
      const lease = await this.#leaseForShell(further, others, signal);
      const { connection } = lease;
      if (connection.shells >= room) {
        others += connection.shells;
        lease[Symbol.dispose]();
        continue;
      }
      try {
        const shell = await connection.shell(terminal);
        shell.once('close', () => {
          lease[Symbol.dispose]();
        });
        return shell;
      } catch (error) {
        lease[Symbol.dispose]();
        throw error;
      }
    }
    throw terminalLimit(this.name, others, 'more are not opened');
  }

  /** @param others terminals that are open on the connections before it */
  async #leaseForShell(
    further: number,
    others: number,
    signal: AbortSignal | undefined,
  ): Promise<SshLease> {
    if (further === 0) return await this.#lease({ signal });
    try {
      return await this.#lease({ signal, interactive: false, further });
    } catch (error) {
      if (!(error instanceof GradwireError) || error.code === 'ABORTED') throw error;
      const why = `another needs a further SSH connection, which failed: ${error.message}`;
      throw terminalLimit(this.name, others, why);
    }
  }

  async find(
    handlers: ConnectionHandlers,
    options?: ConnectOptions,
  ): Promise<ControlConnection | undefined> {
    const lease = await this.#lease(options);
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
    const lease = await this.#lease(options);
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
   * Undefined if no agent is installed, or if no supervisor runs and none may be
   * started.
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
        signal: AbortSignal.any(signals),
        progress: (step) => progress?.(this.name, step, cancel),
      });
      // In its last moment: whoever cancels it does not want what comes after it either.
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
    using lease = await this.#lease({ signal });
    return await use(lease.connection);
  }

  async #lease(
    options: ConnectOptions & Pick<AcquireOptions, 'further'> = {},
  ): Promise<SshLease> {
    const resolved = await this.#resolve();
    try {
      return await this.#acquire(resolved, options);
    } catch (error) {
      const bySystem = await this.#bySystem(resolved, error);
      if (bySystem === undefined) throw error;
      return await this.#acquire(bySystem, options);
    }
  }

  async #acquire(
    { target, transport, notices }: ResolvedTarget,
    {
      signal,
      interactive = true,
      further,
    }: ConnectOptions & Pick<AcquireOptions, 'further'>,
  ): Promise<SshLease> {
    const { pool, questions } = this.#options;
    this.#options.reaches?.(target);
    try {
      return await pool.acquire(target, {
        questions: interactive ? questions : undefined,
        signal,
        further,
      });
    } catch (error) {
      const explained =
        transport.kind === 'builtin' ? this.#withOtherTransport(error) : error;
      throw withNotices(explained, notices);
    }
  }

  /** The way by the system's `ssh`, where the built-in client does not understand the server. */
  async #bySystem(
    { transport }: ResolvedTarget,
    error: unknown,
  ): Promise<ResolvedTarget | undefined> {
    const { transport: asked = 'auto' } = this.entry;
    const isForced = asked !== 'auto' || transport.kind === 'system';
    if (!(error instanceof GradwireError) || isForced) return undefined;
    if (!NOT_UNDERSTOOD.has(error.code)) return undefined;
    this.#notBuiltin = error.message;
    try {
      return await this.#resolve();
    } catch {
      // No usable `ssh` here: the first error says more.
      this.#notBuiltin = undefined;
      return undefined;
    }
  }

  async #resolve(): Promise<ResolvedTarget> {
    const { destination, identities, identitiesOnly } = this.entry;
    const { jump, configFile, transport } = this.entry;
    const options = {
      identitiesOnly:
        identitiesOnly === undefined ? undefined : identitiesOnly === 'yes',
      identities,
      jump,
      configFile,
      transport,
    };
    const why = this.#notBuiltin;
    if (why === undefined) return await resolveTarget(destination, options);
    const found = await resolveTarget(destination, { ...options, transport: 'system' });
    return {
      target: found.target,
      transport: {
        kind: 'system',
        reason: 'the built-in client does not understand its server',
      },
      notices: [...found.notices, `the system’s ssh is used: ${why}`],
    };
  }

  /** The system's `ssh` may succeed where the built-in client cannot log in. */
  #withOtherTransport(error: unknown): unknown {
    if (!(error instanceof GradwireError)) return error;
    if (NOT_UNDERSTOOD.has(error.code)) {
      const named = error.next?.replace('nodes edit NAME', `nodes edit ${this.name}`);
      return new GradwireError({ ...error.toData(), next: named }, { cause: error });
    }
    if (!NOT_LET_IN.has(error.code)) return error;
    const next =
      `${error.next ?? ''} If it needs Kerberos, a certificate or a security key: ` +
      `gradwire nodes edit ${this.name} --transport system.`;
    return new GradwireError(
      { ...error.toData(), next: next.trim() },
      { cause: error },
    );
  }
}

/** @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS` */
function namedRun(runs: readonly RunStatus[], wanted: string, node: string): RunStatus {
  const going = runs.filter(({ phase }) => phase !== 'ended');
  const [found, ...others] = going.filter(({ run }) => run.startsWith(wanted));
  if (found !== undefined && others.length === 0) return found;
  const ids = going.map(({ run }) => run);
  if (found === undefined) {
    const here = ids.length === 0 ? 'no run' : `only ${ids.join(', ')}`;
    throw inputError('RUN_UNKNOWN', `no run "${wanted}" is in progress there`, {
      place: node,
      next: `It has ${here} in progress. List them with: gradwire nodes list.`,
    });
  }
  throw inputError('RUN_AMBIGUOUS', `several runs there start with "${wanted}"`, {
    place: node,
    next: `Give more characters of one of: ${ids.join(', ')}.`,
  });
}

/**
 * Reads up to the line with the marker and leaves the rest unread.
 * @returns false if the command reports that no supervisor runs
 * @throws GradwireError `ATTACH_FAILED`
 */
async function skipTo(
  marker: string,
  stream: RemoteStream,
  node: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = setTimeout(() => {
    stream.destroy(attachFailed(node, `no answer within ${ATTACH_MS / 1000} s`));
  }, ATTACH_MS);
  const cancel = (): void => {
    stream.destroy(failure('ABORTED', 'connecting was cancelled', { place: node }));
  };
  try {
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    if (await readUpTo(Buffer.from(`${marker}\n`), stream, node)) return true;
    const { code } = await stream.exit;
    if (code === EXIT_NONE_RUNS) return false;
    if (code === EXIT_REFUSED) throw refusalOf(stream.stderr, node);
    throw attachFailed(node, stream.stderr.trim() || `it ended with code ${code}`);
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', cancel);
  }
}

/** Returns the reason why no supervisor may start there. */
function refusalOf(stderr: string, node: string): GradwireError {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  const error = toldError(line);
  return error === undefined
    ? attachFailed(node, stderr.trim())
    : new GradwireError({ ...error, place: node });
}

/** False if the stream ends first. Its other listeners stay. */
function readUpTo(
  wanted: Buffer,
  stream: RemoteStream,
  node: string,
): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const settle = (settled: () => void): void => {
      stream.off('readable', read).off('end', end).off('close', end).off('error', fail);
      settled();
    };
    const end = (): void => {
      settle(() => {
        resolve(false);
      });
    };
    const fail = (error: Error): void => {
      settle(() => {
        reject(error);
      });
    };
    const read = (): void => {
      for (;;) {
        const chunk = stream.read() as Buffer | null;
        if (chunk === null) return;
        seen = Buffer.concat([seen, chunk]);
        const at = seen.indexOf(wanted);
        if (at >= 0) {
          settle(() => {
            stream.unshift(seen.subarray(at + wanted.length));
            resolve(true);
          });
          return;
        }
        if (seen.length > MOST_NOISE_BYTES) {
          fail(attachFailed(node, 'its login shell never stops printing'));
          return;
        }
      }
    };
    stream.on('readable', read).on('end', end).on('close', end).on('error', fail);
  });
}

function terminalLimit(node: string, open: number, why: string): GradwireError {
  return inputError('TERMINAL_LIMIT', `${open} terminals are open there; ${why}`, {
    place: node,
    next: 'Close one that you do not need.',
  });
}

function attachFailed(node: string, reason: string): GradwireError {
  return failure('ATTACH_FAILED', `the agent did not answer: ${reason}`, {
    place: node,
    next:
      `Read its supervisor’s log: gradwire nodes log ${node}. If the agent is damaged, ` +
      `deploy it again: gradwire nodes deploy ${node}.`,
  });
}
