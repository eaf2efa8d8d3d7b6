/**
 * What processes that were killed left of their networks: namespaces whose names have the id of a
 * process that is gone, and bridges that have it in their alias. A process takes its own down, whatever
 * ends it but SIGKILL.
 */
import { readdirSync } from 'node:fs';

/** What the names of a process's namespaces begin with; an interface's has 15 characters. */
export function namespaceStem(pid: number): string {
  return `gw${(pid % 2 ** 20).toString(36)}`;
}

const NAMESPACE = /^(gw[0-9a-z]+)x[0-9a-z]+r\d+$/;

/** As `ip -j link` has it. */
export interface LinkEntry {
  readonly ifname: string;
  readonly ifalias?: string | undefined;
}

export interface Abandoned {
  readonly namespaces: readonly string[];
  readonly bridges: readonly string[];
}

/** @param bridges one that was made this moment may have no alias yet: it stays */
export function findAbandoned(
  namespaces: readonly string[],
  bridges: readonly LinkEntry[],
): Abandoned {
  const alive = livingStems();
  const isGone = (stem: string | undefined): boolean =>
    stem !== undefined && !alive.has(stem);
  return {
    namespaces: namespaces.filter((name) => isGone(NAMESPACE.exec(name)?.[1])),
    bridges: bridges
      .filter(({ ifname, ifalias }) => /^gwbridge\d+$/.test(ifname) && isGone(ifalias))
      .map(({ ifname }) => ifname),
  };
}

function livingStems(): ReadonlySet<string> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Set(pids.map((pid) => namespaceStem(Number(pid))));
}
