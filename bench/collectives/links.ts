/**
 * The links between ranks: this machine's loopback, their own networks that are shaped
 * to the speed of a cluster's, or links of that speed that the transport emulates.
 */
import { readFileSync } from 'node:fs';
import type { EmulatedNetwork } from '../../src/shared/machines/emulated-network.ts';
import { inputError } from '../../src/shared/errors/errors.ts';
import { namespacesMissing, RankNamespaces } from '../../tests/harness/namespaces.ts';

/** Bits per second of each rank's link, in each direction. */
const SHAPED = { '100mbit': 1e8, '1gbit': 1e9, '10gbit': 10e9 } as const;
const EMULATED = { 'emulated-1gbit': 1e9, 'emulated-10gbit': 10e9 } as const;

/** Bits per second of a link of that name; undefined: as fast as the machine is. */
export const LINK_RATES: Readonly<Partial<Record<string, number>>> = {
  ...SHAPED,
  ...EMULATED,
};

export const LINK_NAMES = ['loopback', ...keysOf(SHAPED), ...keysOf(EMULATED)] as const;
export type LinkName = 'loopback' | keyof typeof SHAPED | keyof typeof EMULATED;

export interface LinkOptions {
  /**
   * The node of each rank, whose link its ranks share where links are shaped; default: each rank
   * has its own.
   */
  readonly places?: readonly number[] | undefined;
  /** Whether each rank stays on one core: times do not depend on how the system spreads them. */
  readonly bound?: boolean | undefined;
  /** The burst of shaped links, as in `NamespaceOptions`. */
  readonly burst?: number | undefined;
}

export class Links implements Disposable {
  readonly name: LinkName;
  /** The core of each rank; undefined if the system chooses. */
  readonly cores: readonly number[] | undefined;
  readonly #namespaces: RankNamespaces | undefined;

  /** @throws GradwireError `BENCH_LINKS_UNAVAILABLE` */
  constructor(
    name: LinkName,
    ranks: number,
    { bound, burst, places }: LinkOptions = {},
  ) {
    this.name = name;
    if (bound === true) {
      const cores = allowedCores();
      this.cores = Array.from(
        { length: ranks },
        (_, rank) => cores[rank % cores.length]!,
      );
    }
    if (!isShaped(name)) return;
    const missing = namespacesMissing();
    if (missing !== undefined) {
      throw inputError('BENCH_LINKS_UNAVAILABLE', `no links of ${name}: ${missing}`, {
        next: 'Use --links loopback, or run it as root on Linux.',
      });
    }
    this.#namespaces = new RankNamespaces({ ranks, places, burst, rate: SHAPED[name] });
  }

  /** Bits per second, where the system shapes the links. */
  get rate(): number | undefined {
    return isShaped(this.name) ? SHAPED[this.name] : undefined;
  }

  /** The network that the transport is to emulate: the bandwidth alone, as shaping does. */
  get emulated(): EmulatedNetwork | undefined {
    const { name } = this;
    if (name === 'loopback' || isShaped(name)) return undefined;
    return { bandwidth: EMULATED[name], latency: 0 };
  }

  host(rank: number): string {
    return this.#namespaces?.hostOf(rank) ?? '127.0.0.1';
  }

  /** The ranks' own networks, where they have some. */
  get namespaces(): RankNamespaces | undefined {
    return this.#namespaces;
  }

  /** Words to put before a command so that it runs where this rank is. */
  prefix(rank: number): readonly string[] {
    const core = this.cores?.[rank];
    return [
      ...(this.#namespaces?.prefix(rank) ?? []),
      ...(core === undefined ? [] : ['taskset', '-c', String(core)]),
    ];
  }

  [Symbol.dispose](): void {
    this.#namespaces?.[Symbol.dispose]();
  }
}

/** The cores that this process may use. */
function allowedCores(): readonly number[] {
  const status = readFileSync('/proc/self/status', 'utf8');
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)/m.exec(status) ?? [];
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number) as [number, number?];
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function isShaped(name: LinkName): name is keyof typeof SHAPED {
  return name in SHAPED;
}

function keysOf<K extends string>(of: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(of) as K[];
}
