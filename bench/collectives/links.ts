/**
 * What ranks talk over: this machine's loopback, or networks of their own that are shaped
 * to the speed of a cluster's.
 */
import { inputError } from '../../src/shared/errors.ts';
import { namespacesMissing, RankNamespaces } from '../../tests/harness/namespaces.ts';

export const LINK_NAMES = ['loopback', '1gbit', '10gbit'] as const;
export type LinkName = (typeof LINK_NAMES)[number];

/** Bits per second of each rank's link, in each direction. */
const RATES: Readonly<Record<Exclude<LinkName, 'loopback'>, number>> = {
  '1gbit': 1e9,
  '10gbit': 10e9,
};

export class Links implements Disposable {
  readonly name: LinkName;
  readonly #namespaces: RankNamespaces | undefined;

  /** @throws GradwireError `BENCH_LINKS_UNAVAILABLE` */
  constructor(name: LinkName, ranks: number) {
    this.name = name;
    if (name === 'loopback') return;
    const missing = namespacesMissing();
    if (missing !== undefined) {
      throw inputError('BENCH_LINKS_UNAVAILABLE', `no links of ${name}: ${missing}`, {
        next: 'Use --links loopback, or run it as root on Linux.',
      });
    }
    this.#namespaces = new RankNamespaces({ ranks, rate: RATES[name] });
  }

  /** Bits per second, where the links are shaped. */
  get rate(): number | undefined {
    return this.name === 'loopback' ? undefined : RATES[this.name];
  }

  host(rank: number): string {
    return this.#namespaces?.hosts[rank] ?? '127.0.0.1';
  }

  /** Where the ranks have networks of their own. */
  get namespaces(): RankNamespaces | undefined {
    return this.#namespaces;
  }

  /** What to put before a command so that it runs where this rank is. */
  prefix(rank: number): readonly string[] {
    return this.#namespaces?.prefix(rank) ?? [];
  }

  [Symbol.dispose](): void {
    this.#namespaces?.[Symbol.dispose]();
  }
}
