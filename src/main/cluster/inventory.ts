/**
 * The nodes: the local computer and the machines of the inventory. All of them share one pool
 * of SSH connections, so a machine's password is asked for once.
 */
import { isIP } from 'node:net';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import { isLinkLocal } from '../../shared/machines/link-local.ts';
import {
  LOCAL_NODE,
  parseNodeEntry,
  sshWayTo,
  wayTo,
  type NodeEntry,
} from '../../shared/machines/node-entry.ts';
import type { NodeFacts, SupervisorLog } from '../../shared/machines/node-status.ts';
import type { Preflight } from '../../shared/machines/preflight.ts';
import { unknownNode } from './unknown-node.ts';
import { localPreflight } from '../deploy/local-preflight.ts';
import { readLocalLog } from '../deploy/supervisor-log.ts';
import type { Home } from '../home/home.ts';
import { parseDestination, parseJumps } from '../ssh/config/destination.ts';
import { namedHosts } from '../ssh/config/named-hosts.ts';
import { SshPool } from '../ssh/pool.ts';
import type { SshTarget } from '../ssh/target.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { localNode } from './local-node.ts';
import type { NodeAccess } from './node-access.ts';
import type { NodeDirectory } from './node-set.ts';
import { RemoteNode, type RemoteNodeOptions } from './remote-node.ts';

/** The store of entries. */
interface NodeEntries {
  list(): readonly NodeEntry[];
  get(name: string): NodeEntry | undefined;
  renamedTo?(name: string): string | undefined;
}

/** The store of what is found out about machines. */
interface NodeKnowledge {
  note(
    node: { readonly name: string; readonly identity: string },
    news: NodeFacts,
  ): void;
}

export interface InventoryOptions {
  readonly home: Home;
  readonly entries: NodeEntries;
  /** Default: it is not kept. */
  readonly facts?: NodeKnowledge | undefined;
  /** Default: nothing is asked, and whatever needs an answer fails. */
  readonly questions?: SshQuestions | undefined;
  /** Fingerprints of host keys that the user has named. */
  readonly confirmedHostKeys?: readonly string[] | undefined;
  readonly progress?: RemoteNodeOptions['progress'];
  readonly deploysUnasked?: RemoteNodeOptions['deploysUnasked'];
}

export class Inventory implements NodeDirectory, AsyncDisposable {
  readonly lead = LOCAL_NODE;
  readonly #options: InventoryOptions;
  readonly #pool: SshPool;
  /** The target that a machine was reached by, for each route. */
  readonly #reached = new Map<string, Set<SshTarget>>();

  constructor(options: InventoryOptions) {
    this.#options = options;
    this.#pool = new SshPool({
      acceptedHostKeys: options.home.knownHosts,
      confirmedHostKeys: options.confirmedHostKeys,
      directory: options.home.directory,
    });
  }

  /** The identity that distinguishes this computer's home from another. */
  get here(): string {
    return localNode(this.#options.home).identity;
  }

  names(): readonly string[] {
    return [LOCAL_NODE, ...this.#options.entries.list().map(({ name }) => name)];
  }

  /** Machines between which links are measured: a Slurm cluster shares no run with others. */
  linked(): readonly string[] {
    return this.names().filter((name) => this.access(name)?.slurm === undefined);
  }

  access(name: string): NodeAccess | undefined {
    if (name === LOCAL_NODE) return localNode(this.#options.home);
    const entry = this.#options.entries.get(name);
    return entry && this.remote(entry);
  }

  renamedTo(name: string): string | undefined {
    return this.#options.entries.renamedTo?.(name);
  }

  remote(entry: NodeEntry): RemoteNode {
    const { home, questions, progress, deploysUnasked } = this.#options;
    const reaches = (target: SshTarget): void => {
      this.look();
      const way = sshWayTo(entry);
      // An entry that was changed since it was requested is reached this one last time.
      this.#reached.set(way, (this.#reached.get(way) ?? new Set()).add(target));
    };
    const pool = this.#pool;
    const learned = (news: NodeFacts): void => {
      const identity = wayTo(entry);
      const now = this.#options.entries.get(entry.name);
      // Removed or changed meanwhile: this may be about another machine.
      if (now === undefined || wayTo(now) !== identity) return;
      this.#options.facts?.note({ name: entry.name, identity }, news);
    };
    const all = { home, pool, reaches, questions, progress, deploysUnasked, learned };
    return new RemoteNode(entry, all);
  }

  /**
   * Inspects a machine, or this computer. Writes nothing there.
   * @throws GradwireError `NODE_UNKNOWN` and those of the connection
   */
  async check(name: string, signal?: AbortSignal): Promise<Preflight> {
    const { home, facts } = this.#options;
    if (name !== LOCAL_NODE) return this.#named(name).check(signal);
    const preflight = await localPreflight(home, signal);
    facts?.note({ name, identity: this.here }, { preflight, checkedAt: Date.now() });
    return preflight;
  }

  /**
   * The last lines of the log of a machine's supervisor, or of this computer's.
   * @throws GradwireError `NODE_UNKNOWN`, `LOG_UNREADABLE` and those of the connection
   */
  async log(name: string, lines: number): Promise<SupervisorLog> {
    if (name === LOCAL_NODE) return readLocalLog(this.#options.home, lines);
    return this.#named(name).log(lines);
  }

  /**
   * Releases connections, secrets and questions of machines that have been removed or are
   * now reached by another route.
   */
  look(): void {
    const ways = new Set(this.#options.entries.list().map(sshWayTo));
    for (const [way, targets] of this.#reached) {
      if (ways.has(way)) continue;
      this.#reached.delete(way);
      for (const target of targets) this.#pool.retire(target);
    }
  }

  /**
   * A machine as a user wrote it, checked as far as possible without connecting.
   * @param placeOf the user's name for a value of the entry; default: its path
   * @throws GradwireError `NODE_INVALID`, `SSH_TARGET_INVALID`
   */
  parse(raw: unknown, placeOf: (path: string) => string = (path) => path): NodeEntry {
    const entry = parseNodeEntry(raw, placeOf);
    const { destination, jump } = entry;
    at(placeOf('destination'), () => parseDestination(destination));
    if (jump !== undefined && jump !== 'none')
      at(placeOf('jump'), () => parseJumps(jump));
    const { address } = entry;
    return address === undefined
      ? entry
      : { ...entry, address: rankAddress(address, placeOf('address')) };
  }

  /** Hosts of ~/.ssh/config that can be added by their names. */
  importableHosts(): readonly string[] {
    return namedHosts().hosts;
  }

  #named(name: string): RemoteNode {
    const entry = this.#options.entries.get(name);
    if (entry !== undefined) return this.remote(entry);
    throw unknownNode(name, {
      names: this.names(),
      renamedTo: this.renamedTo(name),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}

/**
 * The address of ranks as programs take it: an IPv6 address without brackets.
 * @throws GradwireError `NODE_INVALID`
 */
function rankAddress(given: string, place: string): string {
  const address = given.replace(/^\[([^\]]*)\]$/, '$1');
  const isName = /^[A-Za-z0-9_.-]+$/.test(address);
  if ((isName || isIP(address) !== 0) && !isLinkLocal(address)) return address;
  const rule = isLinkLocal(address)
    ? 'a link-local address is valid on one link only, and its interface has other names on other machines'
    : 'a name or an address, without a port';
  throw inputError('NODE_INVALID', `${JSON.stringify(given)} is not valid: ${rule}`, {
    place,
    next: 'Correct the value and try again.',
  });
}

/** Adds the place where the failing value was written. */
function at(place: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    throw new GradwireError({ ...error.toData(), place }, { cause: error });
  }
}
