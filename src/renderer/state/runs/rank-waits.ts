/**
 * Waits of ranks for each other, in the part of a run that its charts show. While they follow the run, these are
 * of the last iterations under the current plan, as in the verdict; where they stand still, of that part.
 */
import type { ErrorData } from '../../../shared/errors/errors.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { rankTitle } from '../../../shared/verdict/rank-nodes.ts';
import { RecentIterations } from '../../../shared/verdict/recent-iterations.ts';
import {
  summarizeWindow,
  VERDICT_MINIMUM,
  type WindowSummary,
} from '../../../shared/verdict/window-summary.ts';
import { formatCount, formatDuration } from '../../../shared/words/units.ts';
import { meanOf, type Bin } from '../history/bin.ts';
import type { RunHistory } from '../history/run-history.ts';

/** The iterations from ≤ i < to. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** Iterations one by one, as a page follows them or has read them. */
export type HeldIterations = Pick<RunHistory, 'heldFrom' | 'ranks' | 'recent'>;

/** Records that are summarised while a chart is moved: more would hold up its drawing. */
const MOST_RECORDS = 16_384;

/** Most iterations of which it can be told who waits for whom. */
export const mostIterations = (ranks: number): number =>
  Math.max(1, Math.floor(MOST_RECORDS / ranks));

const isShort = (ranks: number, { from, to }: Part): boolean =>
  to > from && to - from <= mostIterations(ranks);

/** The waits in a part; undefined if it is too long, or not held one by one. */
export function waitsIn(
  { heldFrom, ranks, recent }: HeldIterations,
  part: Part,
): WindowSummary | undefined {
  if (part.from < heldFrom || !isShort(ranks, part)) return undefined;
  return summarizeWindow(recent, part.from, part.to);
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
  return { heldFrom: from, ranks, recent };
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

/** Ranks as a table, of the iterations that were summarised: the last ones, while charts follow the run. */
export const summaryRows = (
  summary: Pick<WindowSummary, 'awaited' | 'perRank'> | undefined,
): readonly RankRow[] =>
  (summary?.perRank ?? []).map(({ wait, wall }, rank) => ({
    rank,
    wall,
    wait,
    awaited: awaitedOf(summary, rank),
  }));

/** Time for which others wait for a rank; undefined if ranks do not say for whom they wait, or wait for nobody. */
function awaitedOf(
  summary: Pick<WindowSummary, 'awaited'> | undefined,
  rank: number,
): number | undefined {
  const { awaited = [] } = summary ?? {};
  return awaited.some((time) => time > 0) ? awaited[rank] : undefined;
}

/**
 * Ranks as a table, of the iterations whose bins are drawn. How long a rank is awaited needs iterations
 * one by one, its step and wait do not.
 * @param waits in the same iterations, if known
 */
export const rankRows = (
  drawn: ReadonlyMap<number, readonly Bin[]>,
  waits: Pick<WindowSummary, 'awaited'> | undefined,
): readonly RankRow[] =>
  [...drawn].map(([rank, bins]) => ({
    rank,
    ...meansOver(bins),
    awaited: awaitedOf(waits, rank),
  }));

/** The state of the records of a part: how far they are read, or the error that this met. */
export type PartReading = 'read' | 'reading' | ErrorData;

/** A part that stands still in the charts. */
interface ShownPart extends Part {
  readonly reading: PartReading;
}

/**
 * A sentence on who waits for whom.
 * @param part that is shown, if it stands still
 * @param summary of that part, or else of the last iterations
 */
export function waitsText(
  summary: WindowSummary | undefined,
  {
    nodes,
    part,
    ranks,
  }: {
    readonly ranks: number;
    readonly part: ShownPart | undefined;
    readonly nodes: ReadonlyMap<number, string>;
  },
): string {
  if (part === undefined && summary === undefined)
    return 'Waiting for the first iteration.';
  if (ranks < 2) return 'A single rank never waits.';
  if (summary === undefined) return unknownText(ranks, part!);
  if (summary.iterations < VERDICT_MINIMUM)
    return 'Too few iterations to tell whether a rank is a straggler.';
  const iterations = part === undefined ? undefined : rangeText(summary);
  const { awaited, perRank, straggler } = summary;
  if (straggler === undefined) {
    const where = iterations === undefined ? '' : ` in ${iterations}`;
    return `No straggler${where}: the ranks wait about equally long for each other.`;
  }
  const who = rankTitle(straggler, nodes).replace(/^r/, 'R');
  const which = iterations ?? `the last ${formatCount(summary.iterations)} iterations`;
  const time = awaited[straggler]!;
  if (time > 0) {
    return `${who} is the straggler of ${which}: every other rank waits ${formatDuration(time)} a step for it.`;
  }
  const others = perRank.filter((_, rank) => rank !== straggler);
  const mean = others.reduce((sum, { wait }) => sum + wait, 0) / others.length;
  return `${who} is the straggler of ${which}: it waits ${formatDuration(perRank[straggler]!.wait)} a step, and the others ${formatDuration(mean)}.`;
}

/** A sentence on why it is not known who waits for whom. */
function unknownText(ranks: number, part: ShownPart): string {
  const { from, reading, to } = part;
  if (to <= from) return 'Not all ranks have finished these iterations.';
  if (!isShort(ranks, part)) {
    return `To see who waits for whom, zoom in until at most ${formatCount(mostIterations(ranks))} iterations are shown.`;
  }
  if (reading === 'read') return `No rank has a record of ${rangeText(part)}.`;
  return reading === 'reading'
    ? `Reading who waits for whom in ${rangeText(part)}…`
    : `Who waits for whom could not be read: ${reading.message}.`;
}

/** `iterations 89–191` */
const rangeText = ({ from, to }: Part): string =>
  to - from === 1
    ? `iteration ${formatCount(from)}`
    : `iterations ${formatCount(from)}–${formatCount(to - 1)}`;
