/** Facts for the verdict from a run's events: its places, its links, and what the engine noticed. */
import { secondsPerByte, type EmulatedLink } from '../machines/emulated-network.ts';
import type { RivalMethod } from '../records/comparison.ts';
import type { RunEvent } from '../records/record-kinds.ts';
import { formatBitRate, formatDuration } from '../words/units.ts';
import { crowdOf, type Crowd } from './core-crowding.ts';
import { rankNodes } from './rank-nodes.ts';

/** Facts of a run besides its iterations. */
export interface VerdictContext {
  readonly ranks: number;
  /** The machine with most ranks per core, if its ranks share cores. */
  readonly crowd?: Crowd | undefined;
  /** The machine of each rank, if they are on several. */
  readonly nodes?: ReadonlyMap<number, string> | undefined;
  /** Milliseconds that the slowest link between ranks takes for a byte, when known. */
  readonly linkTime?: number | undefined;
  /** Milliseconds that a message between ranks takes at least, one way, when known. */
  readonly latency?: number | undefined;
  /** Words for that link: `50 Mbit/s, 50 µs, between a and b`. */
  readonly link?: string | undefined;
  /** The engine's notice that the current plan's compression does not pay. */
  readonly doesNotPay?: string | undefined;
  /** Cosine of what was applied last with the uncompressed gradient, under this plan. */
  readonly cosine?: number | undefined;
  /** Other methods, with the cosine that they would have kept at the last comparison. */
  readonly rivals?: readonly RivalMethod[] | undefined;
}

export interface JudgedRun {
  readonly events: readonly RunEvent[];
  readonly ranks: number;
  /** The machines of the run, as its spec names them. */
  readonly nodes: readonly string[];
}

/** @param ownCores of this computer, for runs whose records do not say how many there are */
export function verdictContext(
  { events, nodes, ranks }: JudgedRun,
  ownCores?: number,
): VerdictContext {
  const links = emulatedLinks(events);
  const slowest = slowestOf(links);
  const since = events.findLast(({ type }) => type === 'switch')?.at ?? -Infinity;
  const current = events.filter(({ at }) => at >= since);
  const notices = current.filter((event) => event.type === 'notice');
  return {
    ranks,
    crowd: crowdOf(events, nodes, ownCores),
    nodes: rankNodes(events, nodes),
    linkTime: slowest && 1000 * secondsPerByte(slowest),
    latency: leastLatency(links),
    link: slowest && linkText(slowest),
    doesNotPay: notices.find(({ code }) => code === 'COMPRESSION_DOES_NOT_PAY')
      ?.message,
    cosine: compared(current)?.cosine,
    rivals: compared(events)?.rivals,
  };
}

const compared = (events: readonly RunEvent[]) =>
  events.findLast((event) => event.type === 'comparison');

interface NamedLink extends EmulatedLink {
  readonly between?: readonly [string, string] | undefined;
}

/** The emulated links; none where ranks have real ones. */
function emulatedLinks(events: readonly RunEvent[]): readonly NamedLink[] {
  const started = events.find((event) => event.type === 'started');
  if (started?.emulated === undefined) return [];
  const { pairs = [], ...common } = started.emulated;
  return [common, ...pairs];
}

const slowestOf = (links: readonly NamedLink[]): NamedLink | undefined =>
  links.reduce<NamedLink | undefined>(
    (slowest, link) =>
      slowest === undefined || secondsPerByte(link) > secondsPerByte(slowest)
        ? link
        : slowest,
    undefined,
  );

const leastLatency = (links: readonly NamedLink[]): number | undefined =>
  links.length === 0 ? undefined : Math.min(...links.map(({ latency }) => latency));

function linkText({ bandwidth, between, latency }: NamedLink): string {
  const speed = `${formatBitRate(bandwidth)}, ${formatDuration(latency)}`;
  if (between === undefined) return speed;
  const [a, b] = between;
  return a === b ? `${speed}, within ${a}` : `${speed}, between ${a} and ${b}`;
}
