/**
 * Describes links that are much slower than expected. A machine whose best link is much
 * slower than the other machines' best is named as a whole; among the others, a link is named
 * if it is much slower than both of its ends are elsewhere. With two machines there is nothing
 * to compare.
 */
import { machineTitle } from '../machines/machine-names.ts';
import { median } from '../numbers/quantile.ts';
import {
  bitsPerSecond,
  type LinkMeasure,
  type LinkStatus,
} from '../machines/link-status.ts';
import { formatBitRate, formatDuration, formatFactor } from '../words/units.ts';

/** Links slower by at least this factor are reported. */
const MUCH = 3;
/** Latencies below this do not matter; s. */
const SMALL_LATENCY = 200e-6;

interface Quantity {
  /** Cost in s: higher is slower. */
  readonly of: (measure: LinkMeasure) => number;
  readonly text: (measure: LinkMeasure) => string;
  /** Formats the machines' best value. */
  readonly lag: string;
}

const QUANTITIES: readonly Quantity[] = [
  {
    of: ({ beta }) => beta,
    text: (measure) => formatBitRate(bitsPerSecond(measure)),
    lag: 'less bandwidth',
  },
  {
    of: ({ alpha }) => Math.max(alpha, SMALL_LATENCY),
    text: ({ alpha }) => formatDuration(1000 * alpha),
    lag: 'more latency',
  },
];

/** One sentence per machine or link, the slowest first. */
export function slowLinks(links: readonly LinkStatus[]): readonly string[] {
  return QUANTITIES.flatMap((quantity) => slowBy(quantity, links));
}

interface Seen {
  readonly from: string;
  readonly to: string;
  readonly measure: LinkMeasure;
}

function slowBy(
  { of, text, lag }: Quantity,
  links: readonly LinkStatus[],
): readonly string[] {
  const seen = links.flatMap(({ from, to, measure }): readonly Seen[] =>
    measure === undefined ? [] : [{ from, to, measure }],
  );
  const names = [...new Set(seen.flatMap(({ from, to }) => [from, to]))];
  if (names.length < 3) return [];
  const fastest = new Map(
    names.map((name) => {
      const own = seen.filter(({ from, to }) => from === name || to === name);
      const [first, ...rest] = own.map(({ measure }) => measure);
      return [name, rest.reduce((a, b) => (of(b) < of(a) ? b : a), first!)] as const;
    }),
  );
  const best = (name: string): number => of(fastest.get(name)!);
  const found: { readonly factor: number; readonly sentence: string }[] = [];
  const slow = new Set<string>();
  for (const name of names) {
    const others = median(names.filter((other) => other !== name).map(best))!;
    const factor = best(name) / others;
    if (factor < MUCH) continue;
    slow.add(name);
    const sentence =
      `${machineTitle(name)} has ${formatFactor(factor)} ${lag} than the other machines: at best ` +
      text(fastest.get(name)!);
    found.push({ factor, sentence });
  }
  for (const { from, to, measure } of seen) {
    if (slow.has(from) || slow.has(to)) continue;
    const factor = of(measure) / Math.max(best(from), best(to));
    if (factor < MUCH) continue;
    const sentence =
      `${machineTitle(from)} → ${machineTitle(to)} has ${formatFactor(factor)} ${lag} than either has elsewhere: ` +
      text(measure);
    found.push({ factor, sentence });
  }
  return found.toSorted((a, b) => b.factor - a.factor).map(({ sentence }) => sentence);
}
