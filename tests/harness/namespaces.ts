/**
 * A network of its own for every rank, or for every node with several: network namespaces on
 * this machine, joined by a bridge, each link shaped at both ends by `tc … tbf`. What lives in one of them reaches
 * the others, and this process's own namespace, over its link and by no other way.
 *
 *   namespace r: eth0 ── tbf ══ veth ══ tbf ── bridge ── the other ranks' links
 *
 * Linux, root, iproute2. Names carry this process's id; everything, processes included, is
 * taken down on disposal and, whatever happens, when the process exits. A signal that ends the process
 * without `exit` handlers leaves them until the next ones are made: turn signals into `process.exit`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import {
  findAbandoned,
  namespaceStem,
  type LinkEntry,
} from './abandoned-namespaces.ts';

export interface NamespaceOptions {
  readonly ranks: number;
  /**
   * The node of each rank, numbered from 0 on: ranks of one node share its namespace and its
   * link. Default: each has its own.
   */
  readonly places?: readonly number[] | undefined;
  /** Of the addresses: IPv4, or unique local ones of IPv6 and no others; default: 4. */
  readonly family?: 4 | 6;
  /**
   * Bits per second of each link and direction, of all or by node; default: as fast as the
   * kernel.
   */
  readonly rate?: number | readonly (number | undefined)[] | undefined;
  /**
   * The most bytes that a shaped link lets through at once after it was idle; default: 128 KiB.
   * A cable lets nothing through at once, so the fewer the closer. The kernel's segments are
   * made as small.
   */
  readonly burst?: number | undefined;
}

/** Bytes that may leave at once: at least one segment of 64 KiB as the kernel makes them. */
const BURST = 128 * 2 ** 10;
/** A burst is that much larger than the kernel's largest segment. */
const HEADERS = 4096;
/** The queue before a shaper, in seconds at its rate: a full window of several streams. */
const QUEUE_SECONDS = 0.05;

/** In 10.240.0.0/12. */
const SUBNETS = 2 ** 12;

let made = 0;

export class RankNamespaces implements Disposable {
  /** By node: names for `ip netns exec`. Where each rank is a node of its own, by rank. */
  readonly names: readonly string[];
  /** By node: the address of its only link. */
  readonly hosts: readonly string[];
  readonly #places: readonly number[];
  /** This process's address on the bridge. */
  readonly gateway: string;
  /** The addresses of all of it, as 10.1.2.0/24. */
  readonly subnet: string;
  readonly #bridge: string;
  readonly #bits: string;
  /** The first three numbers of IPv4 addresses. */
  readonly #prefix: string;
  #hasIpv4Gateway = false;
  #standing = true;
  readonly #takeDown = (): void => this[Symbol.dispose]();

  /** @throws Error where the system refuses; what stood by then is taken down */
  constructor({ ranks, places, rate, burst, family = 4 }: NamespaceOptions) {
    const missing = namespacesMissing() ?? (family === 6 ? ipv6Missing() : undefined);
    if (missing !== undefined) throw new Error(missing);
    takeAbandonedDown();
    const stem = `${namespaceStem(process.pid)}x${(made++).toString(36)}`;
    const { bridge, number, prefix } = claimSubnet();
    this.#bridge = bridge;
    this.#prefix = prefix;
    const six = `fd67:7700:${number.toString(16)}:`;
    this.#bits = family === 6 ? '64' : '24';
    this.subnet = family === 6 ? `${six}:/64` : `${prefix}.0/24`;
    this.gateway = family === 6 ? `${six}:fe` : `${prefix}.254`;
    this.#places = places ?? Array.from({ length: ranks }, (_, rank) => rank);
    const nodes = Math.max(...this.#places) + 1;
    this.hosts = Array.from({ length: nodes }, (_, node) =>
      family === 6 ? `${six}:${node + 1}` : `${prefix}.${node + 1}`,
    );
    this.names = this.hosts.map((_, node) => `${stem}r${node}`);
    process.on('exit', this.#takeDown);
    try {
      ip('link', 'set', this.#bridge, 'alias', namespaceStem(process.pid));
      this.#address([], this.gateway, this.#bridge);
      ip('link', 'set', this.#bridge, 'up');
      for (const node of this.names.keys()) {
        this.#join(node, typeof rate === 'object' ? rate[node] : rate, burst);
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** What to put before a command so that it runs as this rank. */
  prefix(rank: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.names[this.#places[rank]!]!];
  }

  /** The address where this rank is found. */
  hostOf(rank: number): string {
    return this.hosts[this.#places[rank]!]!;
  }

  /**
   * Gives a node of IPv6 an address of IPv4 too, in a network that it shares with this process
   * alone. Returns it.
   */
  alsoIpv4(node: number): string {
    const host = `${this.#prefix}.${node + 1}`;
    if (!this.#hasIpv4Gateway) {
      ip('address', 'add', `${this.#prefix}.254/24`, 'dev', this.#bridge);
      this.#hasIpv4Gateway = true;
    }
    ip('-n', this.names[node]!, 'address', 'add', `${host}/24`, 'dev', 'eth0');
    return host;
  }

  /** As when somebody pulls the cable: nothing arrives any more, and nothing says so. */
  cut(node: number): void {
    ip('link', 'set', this.names[node]!, 'down');
  }

  /** As a firewall that refuses what either of two nodes sends the other. */
  part(a: number, b: number): void {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      ip('-n', this.names[from]!, 'route', 'add', 'unreachable', this.hosts[to]!);
    }
  }

  /** As when that firewall lets them through again. */
  join(a: number, b: number): void {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      ip('-n', this.names[from]!, 'route', 'delete', 'unreachable', this.hosts[to]!);
    }
  }

  /** As when the machine goes: of what runs there nothing is left. */
  endProcesses(node: number): void {
    endProcesses(this.names[node]!);
  }

  /** As when it is put back. */
  mend(node: number): void {
    ip('link', 'set', this.names[node]!, 'up');
  }

  [Symbol.dispose](): void {
    if (!this.#standing) return;
    this.#standing = false;
    process.off('exit', this.#takeDown);
    takeDown(this.names, [this.#bridge]);
  }

  #address(at: readonly string[], host: string, device: string): void {
    // One of IPv6 would be looked for on the link first, and could not be used meanwhile.
    const now = host.includes(':') ? ['nodad'] : [];
    ip(...at, 'address', 'add', `${host}/${this.#bits}`, 'dev', device, ...now);
  }

  #join(node: number, rate: number | undefined, burst: number | undefined): void {
    const name = this.names[node]!;
    ip('netns', 'add', name);
    // The end at the bridge has the namespace's name.
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', name, 'master', this.#bridge, 'up');
    this.#address(['-n', name], this.hosts[node]!, 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    if (rate === undefined) return;
    controlCongestion(name);
    shape([], name, rate, burst);
    shape(['-n', name], 'eth0', rate, burst);
  }
}

/** Why there can be no namespaces here, or undefined. */
export function namespacesMissing(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const tools = ['ip', 'tc'].filter(
    (tool) =>
      !['/usr/sbin', '/sbin', '/usr/bin'].some((at) => existsSync(`${at}/${tool}`)),
  );
  if (tools.length > 0) return `no ${tools.join(', ')}: install Debian's iproute2`;
  return undefined;
}

/** Why there can be no IPv6 here, or undefined. */
export function ipv6Missing(): string | undefined {
  return existsSync('/proc/net/if_inet6') ? undefined : 'the kernel has no IPv6';
}

function takeDown(names: readonly string[], bridges: readonly string[]): void {
  for (const name of names) endProcesses(name);
  // A link goes with either of its ends.
  for (const name of names) attempt('link', 'delete', name);
  for (const name of names) attempt('netns', 'delete', name);
  for (const bridge of bridges) attempt('link', 'delete', bridge);
}

const NAMED = '/run/netns';

function takeAbandonedDown(): void {
  const links = run(['ip', '-j', 'link', 'show', 'type', 'bridge']).trim();
  const { bridges, namespaces } = findAbandoned(
    existsSync(NAMED) ? readdirSync(NAMED) : [],
    links === '' ? [] : (JSON.parse(links) as readonly LinkEntry[]),
  );
  takeDown(namespaces, bridges);
}

/** What still lives in a namespace would outlive its links, and wait on them for ever. */
function endProcesses(name: string): void {
  let pids: string;
  try {
    pids = run(['ip', 'netns', 'pids', name]);
  } catch {
    return; // the namespace never came to be
  }
  for (const pid of pids.split('\n').filter((line) => line !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself in between.
    }
  }
}

/**
 * Ways in which the senders of a namespace adapt to a shaper's queue, the first that this kernel lets
 * it have: Linux's default, and what is nearest to it. With BBR, the default of some machines, a sum of
 * 64 KiB over eight ranks took 23 ms at 1 Gbit/s, with Reno 1.6 (docs/benchmarks.md).
 */
const CONGESTION_CONTROLS = ['cubic', 'reno'];

/** Gives a namespace the usual congestion control; where none may be set it keeps its own. */
function controlCongestion(name: string): void {
  const file = '/proc/sys/net/ipv4/tcp_congestion_control';
  const tries = CONGESTION_CONTROLS.map((each) => `echo ${each} > ${file}`);
  const command = `(${[...tries, 'true'].join(' || ')}) 2>&1`;
  run(['ip', 'netns', 'exec', name, 'sh', '-c', command]);
}

/** @param at options that name the namespace of the device */
function shape(
  at: readonly string[],
  device: string,
  rate: number,
  burst = Math.max(BURST, Math.ceil(rate / 8 / 1000)),
): void {
  const limit = burst + Math.ceil((rate / 8) * QUEUE_SECONDS);
  if (burst < BURST) {
    ip(...at, 'link', 'set', 'dev', device, 'gso_max_size', String(burst - HEADERS));
  }
  run([
    ...['tc', ...at, 'qdisc', 'add', 'dev', device, 'root', 'tbf'],
    ...['rate', `${rate}bit`, 'burst', `${burst}b`, 'limit', `${limit}b`],
  ]);
}

/**
 * A /24 of 10.240.0.0/12 that nothing here has, the first three of its numbers, and its
 * bridge. The bridge has the subnet's number for a name: there can be but one, whoever else
 * makes namespaces at this moment.
 */
function claimSubnet(): {
  readonly bridge: string;
  readonly number: number;
  readonly prefix: string;
} {
  const taken = run(['ip', '-4', '-o', 'address', 'show']);
  for (let offset = 0; offset < SUBNETS; offset++) {
    const number = (process.pid + made * 977 + offset) % SUBNETS;
    const prefix = `10.${240 + (number >> 8)}.${number & 255}`;
    const bridge = `gwbridge${number}`;
    if (taken.includes(` ${prefix}.`)) continue;
    try {
      ip('link', 'add', bridge, 'type', 'bridge');
      return { bridge, number, prefix };
    } catch (error) {
      if (!/File exists/.test(String(error))) throw error;
    }
  }
  throw new Error('no subnet of 10.240.0.0/12 is free');
}

function ip(...args: readonly string[]): void {
  run(['ip', ...args]);
}

/** A signal for the whole process group ends `ip`, too. */
const ATTEMPTS = 5;

/** Taking down what may not stand: the constructor may have failed half-way. */
function attempt(...args: readonly string[]): void {
  attemptTo(args, ATTEMPTS);
}

function attemptTo(args: readonly string[], left: number): void {
  try {
    ip(...args);
  } catch (error) {
    const { signal } = error as { readonly signal?: string | null };
    if (typeof signal === 'string' && left > 1) {
      attemptTo(args, left - 1);
      return;
    }
    const text = String(error);
    if (!/Cannot find device|No such file/.test(text)) {
      process.stderr.write(`left behind: ip ${args.join(' ')}: ${text}\n`);
    }
  }
}

function run([command, ...args]: readonly string[]): string {
  return execFileSync(command!, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
