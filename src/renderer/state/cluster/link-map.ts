/** The links between machines as a map: each cell's text and the strength of its tint. */
import type { ErrorData } from '../../../shared/errors/errors.ts';
import {
  bitsPerSecond,
  type LinkCheckProgress,
  type LinkStatus,
  type PairOutcome,
  type WithinStatus,
} from '../../../shared/machines/link-status.ts';
import { machineTitle } from '../../../shared/machines/machine-names.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import { formatBitRate, formatDuration } from '../../../shared/words/units.ts';

/** Bandwidths that are closer than this look almost alike. */
const SPREAD = 10;

type LinkCell =
  | { readonly kind: 'self'; readonly title: string }
  | {
      readonly kind: 'within';
      readonly bandwidth: string;
      readonly latency: string;
      readonly title: string;
    }
  | { readonly kind: 'unknown'; readonly title: string }
  | { readonly kind: 'failed'; readonly code: string; readonly title: string }
  | {
      readonly kind: 'measured';
      readonly bandwidth: string;
      readonly latency: string;
      /**
       * Bandwidth from 0 to 1: 1 for the most; 0 for the least, or for a tenth of the most if
       * that is less.
       */
      readonly strength: number;
      readonly title: string;
    };

export interface LinkRow {
  readonly from: string;
  readonly cells: readonly (LinkCell & { readonly to: string })[];
}

/** @param names of the machines, in the order of rows and columns */
export function linkRows(
  names: readonly string[],
  links: readonly LinkStatus[],
  within: readonly WithinStatus[] = [],
): readonly LinkRow[] {
  const rates = links.flatMap(({ measure }) =>
    measure === undefined ? [] : [bitsPerSecond(measure)],
  );
  const least = Math.min(...rates);
  const most = Math.max(...rates);
  const strengthOf = (rate: number): number =>
    1 - Math.log(most / rate) / Math.max(Math.log(SPREAD), Math.log(most / least));
  const cellOf = (from: string, to: string): LinkCell => {
    if (from === to) return ownCell(from, within);
    const link = links.find((one) => one.from === from && one.to === to);
    if (link?.failure !== undefined) {
      const { code, message, next = '' } = link.failure.error;
      return { kind: 'failed', code, title: `${message}. ${next}` };
    }
    if (link?.measure === undefined) {
      return {
        kind: 'unknown',
        title: `${machineTitle(from)} → ${machineTitle(to)} has not been measured`,
      };
    }
    const { measure } = link;
    const rate = bitsPerSecond(measure);
    return {
      kind: 'measured',
      bandwidth: formatBitRate(rate),
      latency: formatDuration(1000 * measure.alpha),
      strength: strengthOf(rate),
      title:
        `${measure.addresses.from} → ${measure.addresses.to}, ` +
        `${measure.encrypted ? 'encrypted' : 'not encrypted'}, over ${measure.transport}`,
    };
  };
  return names.map((from) => ({
    from,
    cells: names.map((to) => ({ to, ...cellOf(from, to) })),
  }));
}

function ownCell(name: string, within: readonly WithinStatus[]): LinkCell {
  const own = within.find(({ node }) => node === name);
  if (own === undefined) {
    const target = name === LOCAL_NODE ? '' : ` --node ${name}`;
    return {
      kind: 'self',
      title: `Within ${machineTitle(name)}: not measured (gradwire bench network${target})`,
    };
  }
  return {
    kind: 'within',
    bandwidth: formatBitRate(bitsPerSecond(own)),
    latency: formatDuration(1000 * own.alpha),
    title: `Within ${machineTitle(name)}: ${own.ranks} ranks at once, over ${own.transport}`,
  };
}

/** When the oldest and the newest link were measured; undefined if none was. */
export function measuredSpan(
  links: readonly LinkStatus[],
): { readonly first: number; readonly last: number } | undefined {
  const times = links.flatMap(({ measure }) =>
    measure === undefined ? [] : [measure.measuredAt],
  );
  if (times.length === 0) return undefined;
  return { first: Math.min(...times), last: Math.max(...times) };
}

/** `Measuring box – cabinet, 2 of 3`. */
export function progressText({ done, pairs, nodes }: LinkCheckProgress): string {
  if (nodes === undefined) return 'Connecting to the machines…';
  return `Measuring ${nodes.map(machineTitle).join(' – ')}, ${done + 1} of ${pairs}`;
}

/** Says why pairs were skipped: the runs in progress there. Each reason once, with its pairs. */
export function passedOverTexts(outcomes: readonly PairOutcome[]): readonly string[] {
  const pairsBy = new Map<string, string[]>();
  for (const { nodes, runs } of outcomes) {
    const where = [...new Set(runs.map(({ node }) => machineTitle(node)))].join(
      ' and ',
    );
    const pairs = pairsBy.get(where) ?? [];
    pairs.push(nodes.map(machineTitle).join(' – '));
    pairsBy.set(where, pairs);
  }
  return [...pairsBy].map(
    ([where, pairs]) =>
      `${pairs.join(', ')} ${pairs.length === 1 ? 'was' : 'were'} skipped: a run is in ` +
      `progress on ${where}, and measuring would disturb it. Measure again when it has ended.`,
  );
}

/** Each failure once, with the pairs that it affects. */
export function linkFailures(
  links: readonly LinkStatus[],
): readonly { readonly error: ErrorData; readonly pairs: string }[] {
  const seen = new Map<
    string,
    { readonly error: ErrorData; readonly pairs: string[] }
  >();
  for (const { from, to, failure } of links) {
    if (failure === undefined || from > to) continue;
    const { code, message } = failure.error;
    const key = `${code} ${message}`;
    const known = seen.get(key) ?? { error: failure.error, pairs: [] };
    known.pairs.push(`${machineTitle(from)} – ${machineTitle(to)}`);
    seen.set(key, known);
  }
  return [...seen.values()].map(({ error, pairs }) => ({
    error,
    pairs: pairs.join(', '),
  }));
}
