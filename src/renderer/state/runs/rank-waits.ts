/** Waits of ranks for each other, in the part of a run that its charts show. */
import type { ErrorData } from '../../../shared/errors/errors.ts';
import { COLUMN } from '../../../shared/records/chart-fields.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { Arrivals } from '../../../shared/verdict/arrivals.ts';
import { rankTitle } from '../../../shared/verdict/rank-nodes.ts';
import { RecentIterations } from '../../../shared/verdict/recent-iterations.ts';
import type { Lateness } from '../../../shared/verdict/straggler.ts';
import {
  longestAwaited,
  VERDICT_MINIMUM,
} from '../../../shared/verdict/window-summary.ts';
import { capitalized } from '../../../shared/words/capitalized.ts';
import { formatCount, formatDuration } from '../../../shared/words/units.ts';
import { meanOf, type Bin } from '../history/bin.ts';
import type { RunHistory } from '../history/run-history.ts';

/** The iterations from ≤ i < to. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** Iterations one by one, as a page follows them or has read them. */
export type HeldIterations = Pick<
  RunHistory,
  'arrivals' | 'heldFrom' | 'ranks' | 'recent'
>;

/** Records that are read for the waits in a part. */
const MOST_RECORDS = 16_384;

/** Most iterations whose records are read. */
const mostIterations = (ranks: number): number =>
  Math.max(1, Math.floor(MOST_RECORDS / ranks));

const isShort = (ranks: number, { from, to }: Part): boolean =>
  to > from && to - from <= mostIterations(ranks);

/** Waits of ranks in a part, on average. */
export interface RankWaits {
  /** Milliseconds that each other rank waits for one. */
  readonly awaited: readonly number[];
  readonly perRank: readonly RankMeans[];
}

/** The waits in a part; undefined if it is not held one by one. */
export function waitsIn(
  { heldFrom, ranks, recent }: HeldIterations,
  { from, to }: Part,
): RankWaits | undefined {
  if (from < heldFrom || to <= from) return undefined;
  const waits = Array.from({ length: ranks }, (_, rank) => {
    let [records, wall, wait, awaited] = [0, 0, 0, 0];
    for (let iteration = from; iteration < to; iteration++) {
      const row = recent.placeOf(iteration, rank);
      if (row < 0) continue;
      records += 1;
      wall += recent.rows[row + COLUMN.wall]!;
      wait += recent.rows[row + COLUMN.wait]!;
      awaited += recent.awaited(iteration, rank);
    }
    awaited /= records * Math.max(1, ranks - 1);
    return { awaited, wall: wall / records, wait: wait / records };
  });
  return {
    perRank: waits.map(({ wait, wall }) => ({ wait, wall })),
    awaited: waits.map(({ awaited }) => awaited),
  };
}

/** Whether waits in a part are known once its records are read. */
export const needsRecords = (
  { heldFrom, ranks }: Pick<HeldIterations, 'heldFrom' | 'ranks'>,
  part: Part,
): boolean => ranks > 1 && part.from < heldFrom && isShort(ranks, part);

/** The records of a part as a run's page holds its last ones, so that waits in it are computed alike. */
export function heldRecords(
  records: readonly IterationRecord[],
  ranks: number,
  { from, to }: Part,
): HeldIterations {
  const recent = new RecentIterations(ranks, to - from);
  for (const record of records) recent.add(record);
  return { arrivals: new Arrivals(recent), heldFrom: from, ranks, recent };
}

/** Mean step and wait of a rank, in milliseconds. */
export interface RankMeans {
  readonly wall: number;
  readonly wait: number;
}

/** The means over bins of one rank; undefined if there is no record in them. */
export function meansOver(bins: readonly Bin[]): RankMeans | undefined {
  let [records, wall, wait] = [0, 0, 0];
  for (const bin of bins) {
    records += bin.records;
    wall += bin.records * (meanOf(bin, 'wall') ?? 0);
    wait += bin.records * (meanOf(bin, 'wait') ?? 0);
  }
  return records === 0 ? undefined : { wall: wall / records, wait: wait / records };
}

/** A rank in a table, in milliseconds; undefined: not known. */
export interface RankRow extends Partial<RankMeans> {
  readonly rank: number;
  /** Wait of each other rank for this one. */
  readonly awaited: number | undefined;
}

/** Ranks as a table, of a part whose waits are known. */
export function waitRows({ awaited, perRank }: RankWaits): readonly RankRow[] {
  // Ranks may not say for whom they wait, or wait for nobody.
  const isTold = awaited.some((time) => time > 0);
  return perRank.map((means, rank) => ({
    rank,
    ...means,
    awaited: isTold ? awaited[rank] : undefined,
  }));
}

/** Ranks as a table, of the bins that are drawn: they do not tell for whom ranks wait. */
export const drawnRows = (
  drawn: ReadonlyMap<number, readonly Bin[]>,
): readonly RankRow[] =>
  [...drawn].map(([rank, bins]) => ({ rank, ...meansOver(bins), awaited: undefined }));

/** The state of the records of a part: how far they are read, or the error that this met. */
export type PartReading = 'read' | 'reading' | ErrorData;

/** The part that charts show. */
interface ShownPart extends Part {
  /** The state of its records; undefined while it moves on with the run, and nothing is read. */
  readonly reading: PartReading | undefined;
}

/**
 * A sentence on the straggler of what is shown.
 * @param lateness in all of it, if known
 * @param waits in it, if known
 */
export function waitsText(
  lateness: Lateness | undefined,
  waits: RankWaits | undefined,
  {
    nodes,
    part,
    ranks,
  }: {
    readonly ranks: number;
    readonly part: ShownPart;
    readonly nodes: ReadonlyMap<number, string>;
  },
): string {
  if (part.to === 0) return 'Waiting for the first iteration.';
  if (ranks < 2) return 'A single rank never waits.';
  if (lateness === undefined) return unknownText(ranks, part);
  const { iterations, step, straggler } = lateness;
  const which = rangeText(part);
  if (iterations === 0) return `No iteration of all ranks in ${which}.`;
  if (iterations < VERDICT_MINIMUM)
    return 'Too few iterations to tell whether a rank is a straggler.';
  if (straggler !== undefined) {
    const time = formatDuration(lateness.waitFor(straggler.rank) / iterations);
    return `${capitalized(rankTitle(straggler.rank, nodes))} is the straggler of ${which}: every other rank waits ${time} a step for it.`;
  }
  const { awaited = [] } = waits ?? {};
  const longest = longestAwaited(awaited, step / iterations);
  const others =
    longest === undefined
      ? ''
      : ` The longest wait is for ${rankTitle(longest, nodes)} (${formatDuration(awaited[longest])} a step).`;
  return `No straggler in ${which}: no rank is late much more than the others.${others}`;
}

/** A sentence on why the straggler is not known. */
function unknownText(ranks: number, part: ShownPart): string {
  const { from, reading, to } = part;
  if (to <= from) return 'Not all ranks have finished these iterations.';
  if (reading === undefined)
    return 'To see who waits for whom in all of this, pause the charts or zoom in.';
  if (!isShort(ranks, part)) {
    return `To see who waits for whom in all of this, show each rank, or zoom in until at most ${formatCount(mostIterations(ranks))} iterations are shown.`;
  }
  if (typeof reading === 'object')
    return `Who waits for whom could not be read: ${reading.message}.`;
  return `Reading who waits for whom in ${rangeText(part)}…`;
}

/** `iterations 89–191` */
export const rangeText = ({ from, to }: Part): string =>
  to - from === 1
    ? `iteration ${formatCount(from)}`
    : `iterations ${formatCount(from)}–${formatCount(to - 1)}`;
