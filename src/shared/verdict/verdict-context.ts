/** Facts for the verdict from a run's events: its places, its links, and what the engine noticed. */
import type { RivalMethod } from '../records/comparison.ts';
import type { ForecastRecord } from '../records/forecast.ts';
import type { NoticeRecord } from '../records/notice.ts';
import type { RunEvent } from '../records/record-kinds.ts';
import { crowdOf, type Crowd } from './core-crowding.ts';
import { emulatedLinks, type LatencyRange, type LinkFacts } from './emulated-links.ts';
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
  /** Milliseconds of a message between ranks, one way, on their nearest and farthest link, when known. */
  readonly latency?: LatencyRange | undefined;
  /** Words for the link with the worst bandwidth, and for that with the worst latency, when known. */
  readonly worstLink?: LinkFacts['worst'] | undefined;
  /** The engine's notice that the current plan's compression does not pay. */
  readonly doesNotPay?: Pick<NoticeRecord, 'exchange' | 'message'> | undefined;
  /** Cosine of what was applied last with the uncompressed gradient, under this plan. */
  readonly cosine?: number | undefined;
  /** Other methods, with the cosine that they would have kept at the last comparison. */
  readonly rivals?: readonly RivalMethod[] | undefined;
  /** Exchanges predicted for a program that is only observed. */
  readonly forecast?: ForecastRecord | undefined;
  /** The machine on which programs that join, and the agents beside them, would share cores, if there is one. */
  readonly joinedCrowd?: Crowd | undefined;
}

/** Cores that a rank can keep busy which has joined: its program's, and its agent's. */
const JOINED = 2;

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
  const links = emulatedLinks(events, nodes);
  const since = events.findLast(({ type }) => type === 'switch')?.at ?? -Infinity;
  const current = events.filter(({ at }) => at >= since);
  const notices = current.filter((event) => event.type === 'notice');
  return {
    ranks,
    crowd: crowdOf(events, nodes, ownCores),
    nodes: rankNodes(events, nodes),
    linkTime: links?.perByte,
    latency: links?.latency,
    worstLink: links?.worst,
    doesNotPay: notices.find(({ code }) => code === 'COMPRESSION_DOES_NOT_PAY'),
    cosine: compared(current)?.cosine,
    rivals: compared(events)?.rivals,
    forecast: events.findLast((event) => event.type === 'forecast'),
    joinedCrowd: crowdOf(events, nodes, ownCores, JOINED),
  };
}

const compared = (events: readonly RunEvent[]) =>
  events.findLast((event) => event.type === 'comparison');
