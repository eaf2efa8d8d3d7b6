/**
 * The way to a machine by SSH: its entry resolved by ~/.ssh/config, with the built-in client
 * or, where this does not understand the server, the system's `ssh`.
 */
import { GradwireError, withNotices } from '../../shared/errors/errors.ts';
import type { NodeEntry } from '../../shared/machines/node-entry.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import type { AcquireOptions, SshLease, SshPool } from '../ssh/pool.ts';
import { resolveTarget, type ResolvedTarget } from '../ssh/config/resolve-target.ts';
import type { SshTarget } from '../ssh/target.ts';
import type { ConnectOptions } from './node-access.ts';

/** Errors of the built-in client with servers that only the system's `ssh` understands. */
const NOT_UNDERSTOOD = new Set(['SSH_NO_COMMON_ALGORITHM', 'SSH_PACKET_TOO_LARGE']);
/** Log-in errors with which another client may succeed. */
const NOT_LET_IN = new Set(['SSH_AUTH_FAILED', 'SSH_KEY_UNSUPPORTED']);

export interface SshRouteOptions {
  readonly pool: SshPool;
  /** Receives the target before each attempt to connect. */
  readonly reaches?: ((target: SshTarget) => void) | undefined;
  /** Default: nothing is asked. */
  readonly questions?: SshQuestions | undefined;
}

export class SshRoute {
  readonly #entry: NodeEntry;
  readonly #options: SshRouteOptions;
  /** The reason why the built-in client cannot reach the node, though its settings would let it. */
  #notBuiltin: string | undefined;

  constructor(entry: NodeEntry, options: SshRouteOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  /** The machine's name. */
  get name(): string {
    return this.#entry.name;
  }

  /**
   * A lease of the connection to the machine, made if necessary.
   * @throws GradwireError those of `resolveTarget` and of the connection
   */
  async lease(
    options: ConnectOptions & Pick<AcquireOptions, 'further'> = {},
  ): Promise<SshLease> {
    const resolved = await this.resolve();
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
    const { transport: asked = 'auto' } = this.#entry;
    const isForced = asked !== 'auto' || transport.kind === 'system';
    if (!(error instanceof GradwireError) || isForced) return undefined;
    if (!NOT_UNDERSTOOD.has(error.code)) return undefined;
    this.#notBuiltin = error.message;
    try {
      return await this.resolve();
    } catch {
      // No usable `ssh` here: the first error says more.
      this.#notBuiltin = undefined;
      return undefined;
    }
  }

  /**
   * The target and the client to reach it with.
   * @throws GradwireError as `resolveTarget` does
   */
  async resolve(): Promise<ResolvedTarget> {
    const { destination, identities, identitiesOnly } = this.#entry;
    const { jump, configFile, transport } = this.#entry;
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
