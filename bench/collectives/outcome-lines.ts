/**
 * Measurements as lines: objects for `--json`, rows for the table. Conventions of
 * nccl-tests: size is that of the dense vector, algbw = size/time, busbw =
 * algbw·2(P−1)/P, in 10⁹ bytes a second. Bytes on the wire are those that the busiest rank
 * sends in one exchange, payload and framing apart.
 */
import { findCollective } from '../../src/agent/collectives/registry.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { formatBytes, formatDuration } from '../../src/shared/words/units.ts';
import { median, quantile } from '../quantiles.ts';
import type { NetworkCost } from '../../src/shared/cost-model/network-cost.ts';
import type { Outcome, Stage } from './contest.ts';

interface Speed {
  /** Milliseconds: median and quartiles. */
  readonly ms: number;
  readonly p25: number;
  readonly p75: number;
  readonly algbw: number;
  readonly busbw: number;
}

interface Where {
  readonly section: string;
  readonly ranks: number;
  readonly links: string;
  /** N, elements, and bytes of the dense vector. */
  readonly n: number;
  readonly bytes: number;
}

export interface CollectiveLine extends Where, Speed {
  readonly type: 'collective';
  readonly transport: string;
  readonly collective: string;
  readonly payload: 'dense' | 'sparse';
  /** k, entries a rank, of a sparse payload. */
  readonly k?: number | undefined;
  /** K, entries of the result. */
  readonly entries: number;
  readonly wire: { readonly payload: number; readonly framing: number };
  readonly predicted: { readonly ms: number; readonly payload: number };
  /** Whether `auto` takes it among those for its payload. */
  readonly auto: boolean;
}

interface PeerLine extends Where, Speed {
  readonly type: 'peer';
  readonly peer: string;
  readonly version: string;
  /** Ours of the same name; undefined: its own choice, on dense vectors. */
  readonly collective?: string | undefined;
  /** Our median over its median: of what `auto` takes, of the fastest, of the same algorithm. */
  readonly ratio: {
    readonly auto: number;
    readonly best: number;
    readonly same?: number | undefined;
  };
}

/** The world that the next lines were measured in. */
export interface NetworkLine extends NetworkCost {
  readonly type: 'network';
  readonly ranks: number;
  readonly links: string;
  readonly transport: string;
}

export type OutcomeLine = CollectiveLine | PeerLine;

export function networkLine({ world, network }: Stage): NetworkLine {
  const { size: ranks, links, transport } = world;
  return { type: 'network', ranks, links: links.name, transport, ...network };
}

export function networkText(line: NetworkLine): string {
  const { ranks, links, transport, alpha, beta, gamma } = line;
  return (
    `P = ${ranks}, ${links}, ${transport}; α ${formatDuration(1e3 * alpha)}, ` +
    `β ${(1e9 * beta).toPrecision(3)} ns/B, γ ${(1e9 * gamma).toPrecision(3)} ns`
  );
}

export function outcomeLines(
  section: string,
  { world }: Stage,
  { shape, contestants, peers }: Outcome,
): readonly OutcomeLine[] {
  const ranks = world.size;
  const bytes = 4 * shape.length;
  const where = { section, ranks, links: world.links.name, n: shape.length, bytes };
  const speed = (times: readonly number[]): Speed => speedOf(times, bytes, ranks);
  const kind = shape.count === undefined ? 'dense' : 'sparse';
  const medians = contestants.map(({ times }) => median(times));
  // What leaves entries out of the sum does less than the peers.
  const best = Math.min(
    ...medians.filter(
      (_, index) => findCollective(contestants[index]!.collective).partial !== true,
    ),
  );
  const auto =
    medians[contestants.findIndex((one) => one.auto && one.payload === kind)];
  return [
    ...contestants.map((one): CollectiveLine => {
      const { times, exchange, ...rest } = one;
      return {
        type: 'collective',
        ...where,
        transport: world.transport,
        collective: rest.collective,
        payload: rest.payload,
        k: rest.payload === 'sparse' ? shape.count : undefined,
        entries: exchange.entries,
        ...speed(times),
        wire: { payload: exchange.payloadBytes, framing: exchange.framingBytes },
        predicted: { ms: rest.predictedMs, payload: rest.predictedBytes },
        auto: rest.auto,
      };
    }),
    ...peers.map(({ peer, task, times }): PeerLine => {
      const theirs = median(times);
      const { collective } = task;
      const same = contestants.findIndex((one) => one.collective === collective);
      return {
        type: 'peer',
        ...where,
        peer: peer.peer.name,
        version: peer.version,
        collective,
        ...speed(times),
        ratio: {
          auto: (auto ?? best) / theirs,
          best: best / theirs,
          same: same < 0 ? undefined : medians[same]! / theirs,
        },
      };
    }),
  ];
}

/** A table of one world's lines. */
export function outcomeTable(lines: readonly OutcomeLine[]): string {
  const header = [
    ...['size', 'k', 'algorithm', 'time', '25 %', '75 %', 'algbw', 'busbw, GB/s'],
    ...['payload', 'framing', 'predicted'],
    ...(lines.some(({ type }) => type === 'peer') ? ['ours : theirs'] : []),
  ];
  const rows = lines.map((line) => [
    formatSize(line.bytes),
    line.type === 'collective' && line.k !== undefined ? String(line.k) : '',
    nameOf(line),
    ...[line.ms, line.p25, line.p75].map(formatDuration),
    ...[line.algbw, line.busbw].map((value) => value.toFixed(3)),
    ...(line.type === 'peer'
      ? ['', '', '', ratioText(line.ratio)]
      : [
          formatBytes(line.wire.payload),
          formatBytes(line.wire.framing),
          formatDuration(line.predicted.ms),
          '',
        ]),
  ]);
  return textTable(
    [header, ...rows],
    header.map((title) => (title === 'algorithm' ? 'left' : 'right')),
  );
}

function nameOf(line: OutcomeLine): string {
  if (line.type === 'peer')
    return [line.peer, line.collective].filter(Boolean).join(' ');
  return line.auto ? `${line.collective} (auto)` : line.collective;
}

function ratioText({ auto, best, same }: PeerLine['ratio']): string {
  const texts = [auto.toFixed(2), `best ${best.toFixed(2)}`];
  if (same !== undefined) texts.push(`same ${same.toFixed(2)}`);
  return texts.join(', ');
}

function speedOf(times: readonly number[], bytes: number, ranks: number): Speed {
  const ms = median(times);
  const algbw = bytes / ms / 1e6;
  return {
    ms,
    p25: quantile(times, 0.25),
    p75: quantile(times, 0.75),
    algbw,
    busbw: (algbw * 2 * (ranks - 1)) / ranks,
  };
}

/** Powers of 1024 where sizes are, as they were asked for. */
export function formatSize(bytes: number): string {
  for (const [unit, size] of [
    ['M', 2 ** 20],
    ['K', 2 ** 10],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}
