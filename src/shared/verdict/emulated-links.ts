/** The emulated links between the ranks of a run: those that some pair of ranks has. */
import { secondsPerByte, type EmulatedLink } from '../machines/emulated-network.ts';
import { LOCAL_NODE } from '../machines/node-entry.ts';
import { rankProcesses } from '../records/rank-places.ts';
import type { RunEvent } from '../records/record-kinds.ts';
import { formatBitRate, formatDuration } from '../words/units.ts';

/** Facts of the links between ranks. */
export interface LinkFacts {
  /** Milliseconds that the slowest one takes for a byte. */
  readonly perByte: number;
  /** Milliseconds of a message, one way, on the nearest and on the farthest one. */
  readonly latency: LatencyRange;
  /** Words for the link with the worst of each: `50 Mbit/s, 50 µs, between a and b`. */
  readonly worst: Readonly<Record<'bandwidth' | 'latency', string>>;
}

export interface LatencyRange {
  readonly least: number;
  readonly most: number;
}

interface NamedLink extends EmulatedLink {
  readonly between?: readonly [string, string] | undefined;
}

/**
 * @param nodes the machines of the run, as its spec names them
 * @returns undefined where ranks have real links
 */
export function emulatedLinks(
  events: readonly RunEvent[],
  nodes: readonly string[],
): LinkFacts | undefined {
  const links = linksInUse(events, nodes);
  if (links.length === 0) return undefined;
  const latencies = links.map(({ latency }) => latency);
  const slowest = worstBy(links, secondsPerByte);
  return {
    perByte: 1000 * secondsPerByte(slowest),
    latency: { least: Math.min(...latencies), most: Math.max(...latencies) },
    worst: {
      bandwidth: linkText(slowest),
      latency: linkText(worstBy(links, ({ latency }) => latency)),
    },
  };
}

/** The links that some two ranks have: the common one is none where each pair has its own. */
function linksInUse(
  events: readonly RunEvent[],
  nodes: readonly string[],
): readonly NamedLink[] {
  const started = events.find((event) => event.type === 'started');
  if (started?.emulated === undefined) return [];
  const { pairs = [], ...common } = started.emulated;
  const processes = rankProcesses(events);
  // Of a rank that is nowhere yet any link may be.
  if (processes.length < Math.max(2, started.ranks)) return [common, ...pairs];
  const places = processes.map(({ node }) => specName(node, nodes));
  const used = new Set(
    [...new Set(places)].flatMap((a) =>
      [...new Set(places)]
        .filter((b) => a !== b || places.indexOf(a) !== places.lastIndexOf(a))
        .map((b) => pairs.find(({ between }) => isBetween(between, a, b)) ?? common),
    ),
  );
  return [common, ...pairs].filter((link) => used.has(link));
}

const isBetween = (
  [one, other]: readonly [string, string],
  a: string,
  b: string,
): boolean => (one === a && other === b) || (one === b && other === a);

/** A machine's name in the spec. Records have this computer's host name. */
function specName(node: string, nodes: readonly string[]): string {
  if (nodes.includes(node)) return node;
  if (nodes.length === 1) return nodes[0]!;
  return nodes.includes(LOCAL_NODE) ? LOCAL_NODE : node;
}

const worstBy = (
  links: readonly NamedLink[],
  measure: (link: NamedLink) => number,
): NamedLink =>
  links.reduce((worst, link) => (measure(link) > measure(worst) ? link : worst));

function linkText({ bandwidth, between, latency }: NamedLink): string {
  const speed = `${formatBitRate(bandwidth)}, ${formatDuration(latency)}`;
  if (between === undefined) return speed;
  const [a, b] = between;
  return a === b ? `${speed}, within ${a}` : `${speed}, between ${a} and ${b}`;
}
