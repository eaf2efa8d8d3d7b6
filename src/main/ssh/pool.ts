/**
 * One authenticated connection for each target, shared by everything that needs it: for
 * each jump host, too, which machines behind it share. It is closed after a while without
 * use. Until then its passwords and passphrases are kept in memory, so that a lost
 * connection, or another one that needs the same, can be made again without asking. If one user
 * of a connection would leave no channels for the others, it gets a further connection, made
 * without asking too.
 *
 * The system's `ssh` makes the whole way for each target by itself.
 */
import { GradwireError } from '../../shared/errors/errors.ts';
import type { HostKeyOptions } from './host-key-check.ts';
import { untilAborted } from './questions.ts';
import type { RemoteConnection, SshOpenOptions } from './remote-connection.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { RememberedSecrets } from './remembered-secrets.ts';
import { aborted } from './ssh-errors.ts';
import { hopsTo, lastJump, placeOf, routeTo, type SshTarget } from './target.ts';

export interface SshPoolOptions extends HostKeyOptions {
  /** A private directory for the sockets of the system's `ssh`. */
  readonly directory?: string | undefined;
  /** Time from the last release to the end of the connection. */
  readonly idleMs?: number | undefined;
}

export interface AcquireOptions {
  readonly questions?: SshQuestions | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether it is only on the way to a machine. */
  readonly jump?: boolean | undefined;
  /** The number of a further connection to the target; default: 0, the one for all. */
  readonly further?: number | undefined;
}

/** The right to use a connection until disposed of. */
export interface SshLease extends Disposable {
  readonly connection: RemoteConnection;
}

interface Opening {
  readonly connection: Promise<RemoteConnection>;
  readonly interactive: boolean;
  readonly controller: AbortController;
  waiting: number;
}

interface Entry {
  readonly target: SshTarget;
  connection: RemoteConnection | undefined;
  opening: Opening | undefined;
  leases: number;
  idle: NodeJS.Timeout | undefined;
  /** Whether the connection must not be handed out any more. */
  retired: boolean;
}

/** Errors that a user's answer may avoid. */
const ASKING = new Set(['SSH_AUTH_NEEDED', 'HOST_KEY_UNKNOWN', 'HOST_KEY_OTHER_TYPE']);

const IDLE_MS = 30_000;

export class SshPool implements AsyncDisposable {
  readonly #options: SshPoolOptions;
  readonly #secrets = new RememberedSecrets();
  readonly #entries = new Map<string, Entry>();
  /** Retired entries that are still held. */
  readonly #retired = new Set<Entry>();
  #closed = false;

  constructor(options: SshPoolOptions = {}) {
    this.#options = options;
  }

  /**
   * The target's connection, made if necessary. Concurrent callers share one attempt; it
   * is abandoned when none of them waits any more.
   * @throws GradwireError as `SshConnection.open` and `SystemSshConnection.open`
   */
  async acquire(target: SshTarget, options: AcquireOptions = {}): Promise<SshLease> {
    if (this.#closed) throw new Error('internal: the pool is closed');
    const key = keyOf(target, options.further);
    const entry = this.#entries.get(key) ?? newEntry(target);
    this.#entries.set(key, entry);
    clearTimeout(entry.idle);
    entry.leases++;
    try {
      const connection = await this.#connect(entry, options);
      let held = true;
      return {
        connection,
        [Symbol.dispose]: () => {
          if (held) this.#release(key, entry);
          held = false;
        },
      };
    } catch (error) {
      this.#release(key, entry);
      throw error;
    }
  }

  /**
   * Forgets a target, and secrets and jump hosts that no other one uses. An attempt to
   * connect ends, with its questions; current holders keep the connection, and the last
   * one closes it.
   */
  retire(target: SshTarget): void {
    const wanted = keyOf(target);
    for (const [key, entry] of this.#entries) {
      if (keyOf(entry.target) !== wanted) continue;
      this.#entries.delete(key);
      entry.retired = true;
      entry.opening?.controller.abort();
      this.#forgetSecrets(entry);
      if (entry.leases > 0) this.#retired.add(entry);
      else void closeEntry(entry).then(() => this.#retireUnused(lastJump(target)));
    }
  }

  #retireUnused(target: SshTarget | undefined): void {
    if (target === undefined) return;
    if (this.#entries.get(keyOf(target))?.leases === 0) this.retire(target);
  }

  /** Forgets those secrets of a target that no other target uses. */
  #forgetSecrets(entry: Entry): void {
    const others = [...this.#entries.values()].filter((other) => other !== entry);
    const used = others.flatMap(({ target }) => hopsTo(target));
    const places = used.map(placeOf);
    const files = used.flatMap(({ identities }) => identities);
    for (const hop of hopsTo(entry.target)) {
      if (!places.includes(placeOf(hop))) this.#secrets.forgetPassword(placeOf(hop));
      for (const file of hop.identities) {
        if (!files.includes(file)) this.#secrets.forgetPassphrase(file);
      }
    }
  }

  /** Closes all connections and forgets all secrets. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries.values(), ...this.#retired];
    this.#retired.clear();
    this.#entries.clear();
    await Promise.all(entries.map(closeEntry));
    this.#secrets.clear();
  }

  async #connect(entry: Entry, options: AcquireOptions): Promise<RemoteConnection> {
    const { questions, signal } = options;
    for (;;) {
      if (entry.retired || hasAborted(signal))
        throw aborted(entry.target, 'connecting');
      if (entry.connection?.isOpen === true) return entry.connection;
      const opening = (entry.opening ??= this.#open(entry, options));
      try {
        return await this.#wait(entry, opening, signal);
      } catch (error) {
        const code = error instanceof GradwireError ? error.code : undefined;
        // All others had abandoned this attempt at the moment we joined it.
        if (code === 'ABORTED' && !hasAborted(signal)) continue;
        // Another caller's attempt could not ask a user, but this one can.
        const mayAsk = questions !== undefined && !opening.interactive;
        const needed = code !== undefined && ASKING.has(code);
        if (!mayAsk || !needed) throw error;
      }
    }
  }

  #open(entry: Entry, { questions, jump }: AcquireOptions): Opening {
    const controller = new AbortController();
    const { signal } = controller;
    const connection = this.#reach(entry.target, { questions, signal, jump }).then(
      (opened) => {
        entry.opening = undefined;
        entry.connection = opened;
        return opened;
      },
      (error: unknown) => {
        entry.opening = undefined;
        throw error;
      },
    );
    return { connection, controller, interactive: questions !== undefined, waiting: 0 };
  }

  /** Connects over the connection to the last jump host, which is held as long as this one. */
  async #reach(target: SshTarget, given: AcquireOptions): Promise<RemoteConnection> {
    const { questions, signal, jump } = given;
    const options = { ...this.#options, secrets: this.#secrets, signal, jump };
    routeTo(target);
    const before = target.system === undefined ? lastJump(target) : undefined;
    if (before === undefined) return await openConnection(target, questions, options);
    const lease = await this.acquire(before, { questions, signal, jump: true });
    const through = lease.connection;
    try {
      const opened = await openConnection(target, questions, { ...options, through });
      void opened.closed.then(() => {
        lease[Symbol.dispose]();
      });
      return opened;
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    }
  }

  async #wait(
    entry: Entry,
    opening: Opening,
    signal: AbortSignal | undefined,
  ): Promise<RemoteConnection> {
    opening.waiting++;
    try {
      return await untilAborted(opening.connection, signal);
    } catch (error) {
      if (hasAborted(signal)) throw aborted(entry.target, 'connecting');
      throw error;
    } finally {
      if (--opening.waiting === 0) opening.controller.abort();
    }
  }

  #release(key: string, entry: Entry): void {
    if (--entry.leases > 0 || this.#closed) return;
    if (entry.retired) {
      this.#retired.delete(entry);
      void closeEntry(entry);
      return;
    }
    entry.idle = setTimeout(() => {
      this.#entries.delete(key);
      this.#forgetSecrets(entry);
      void closeEntry(entry);
    }, this.#options.idleMs ?? IDLE_MS);
    entry.idle.unref();
  }
}

/**
 * Loads ssh2, or the code that runs `ssh`, with the first connection: most commands make
 * none.
 */
async function openConnection(
  target: SshTarget,
  questions: SshQuestions | undefined,
  options: SshOpenOptions,
): Promise<RemoteConnection> {
  if (target.system !== undefined) {
    const { SystemSshConnection } = await import('./system-connection.ts');
    return await SystemSshConnection.open(target, questions, options);
  }
  const { SshConnection } = await import('./connection.ts');
  return await SshConnection.open(target, questions, options);
}

/** Hosts with another name in ~/.ssh/config are the same ones. */
const keyOf = (target: SshTarget, further = 0): string =>
  `${further} ${JSON.stringify(target, (key, value: unknown) => (key === 'alias' ? undefined : value))}`;

function hasAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function newEntry(target: SshTarget): Entry {
  return {
    target,
    connection: undefined,
    opening: undefined,
    leases: 0,
    idle: undefined,
    retired: false,
  };
}

async function closeEntry(entry: Entry): Promise<void> {
  clearTimeout(entry.idle);
  entry.opening?.controller.abort();
  // An attempt in progress ends by its signal, or succeeds after all.
  await entry.opening?.connection.catch(() => undefined);
  await entry.connection?.close();
}
