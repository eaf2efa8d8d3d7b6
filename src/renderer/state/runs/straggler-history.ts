/**
 * The stragglers of a part of a run over its iterations: the same decision as in a verdict, of one cell after the other.
 * Where iterations are held one by one, it rests on each of them; else on the means of the bins that are
 * drawn, if these are of all ranks. Nothing is read for it.
 */
import { binWidth } from '../../../shared/numbers/bin-width.ts';
import { COLUMN } from '../../../shared/records/chart-fields.ts';
import { rankTitle } from '../../../shared/verdict/rank-nodes.ts';
import { communicationOf } from '../../../shared/verdict/step-series.ts';
import { Lateness } from '../../../shared/verdict/straggler.ts';
import { formatCount, formatWholePercent } from '../../../shared/words/units.ts';
import type { Bin } from '../history/bin.ts';
import { rangeText, type HeldIterations, type Part } from './rank-waits.ts';

/** Bins of a rank's small chart, and cells. */
export const STRIP_BARS = 41;

/** Iterations of a cell at least: of fewer, a rank would be last in most by chance. */
const LEAST = 16;

/** Neighbouring cells with the same straggler, or without one. */
export interface Stretch extends Part {
  readonly rank: number | undefined;
  /** The part of the step in which each other rank waits for it. */
  readonly share: number;
  /** Whether there was anything to decide it by. */
  readonly isKnown: boolean;
}

interface StragglerHistory {
  readonly cells: readonly Part[];
  /** Oldest first. */
  readonly stretches: readonly Stretch[];
  /** Lateness in all of it, if all cells are known. */
  readonly whole: Lateness | undefined;
}

/**
 * Follows the stragglers of a part.
 * @param held iterations one by one, of which the first that has a cell tells it
 * @param drawn bins of ranks; nothing is known by them unless all ranks have some
 */
export function stragglerHistory(
  { from, to }: Part,
  ranks: number,
  held: readonly (HeldIterations | undefined)[],
  drawn: ReadonlyMap<number, readonly Bin[]>,
): StragglerHistory {
  const width = Math.max(LEAST, binWidth(to - from, STRIP_BARS));
  const cells: Part[] = [];
  const stretches: Stretch[] = [];
  const whole = new Lateness(ranks);
  const own = new Lateness(ranks);
  const merged = new Lateness(ranks);
  let isKnown = true;
  for (let start = from - (from % width); start < to; start += width) {
    const cell = { from: Math.max(start, from), to: Math.min(start + width, to) };
    const source = held.find((one) => one !== undefined && one.heldFrom <= cell.from);
    own.clear();
    if (source === undefined) addMeans(own, drawn, cell);
    else source.arrivals.addTo(own, cell.from, cell.to);
    whole.add(own);
    if (source === undefined && own.iterations === 0) isKnown = false;
    cells.push(cell);
    const before = stretches.at(-1);
    // Those at both ends may be short.
    const rank = own.iterations < LEAST ? undefined : own.straggler?.rank;
    const isDecided = own.iterations > 0;
    const joins =
      before !== undefined && before.isKnown === isDecided && before.rank === rank;
    if (joins) stretches.pop();
    else merged.clear();
    merged.add(own);
    stretches.push({
      from: joins ? before.from : cell.from,
      to: cell.to,
      rank,
      share: rank === undefined ? 0 : merged.waitFor(rank) / merged.step,
      isKnown: isDecided,
    });
  }
  return { cells, stretches, whole: isKnown ? whole : undefined };
}

/**
 * Adds a cell by the means of its bins: who arrived last is no longer known, but whoever did so most waited
 * least. What a rank waited less than the one that waited longest, others have waited for it.
 */
function addMeans(
  sums: Lateness,
  drawn: ReadonlyMap<number, readonly Bin[]>,
  { from, to }: Part,
): void {
  const ranks = sums.against.length;
  let [known, longest, step] = [0, 0, 0];
  for (const [rank, bins] of drawn) {
    let [records, waited, wall] = [0, 0, 0];
    for (const bin of bins) {
      if (bin.from >= to || bin.to <= from) continue;
      records += bin.records;
      waited += bin.records * communicationOf(bin.means, 0);
      wall += bin.records * bin.means[COLUMN.wall]!;
    }
    if (records === 0) continue;
    known += 1;
    step += wall / records / ranks;
    sums.against[rank] = waited / records;
    longest = Math.max(longest, waited / records);
  }
  if (known < ranks) {
    sums.clear();
    return;
  }
  const iterations = to - from;
  sums.count(iterations, iterations * step);
  for (let rank = 0; rank < ranks; rank++) {
    const late = longest - sums.against[rank]!;
    sums.against[rank] = (iterations * late * (ranks - 1)) / ranks;
  }
}

/** Stretches that a sentence names at most. */
const MOST_NAMED = 3;

/** The stragglers in a sentence, those that cost most. */
export function historyText(
  stretches: readonly Stretch[],
  nodes: ReadonlyMap<number, string>,
): string {
  const accused = stretches.filter(({ rank }) => rank !== undefined);
  const named = accused
    .toSorted((a, b) => costOf(b) - costOf(a))
    .slice(0, MOST_NAMED)
    .toSorted((a, b) => a.from - b.from)
    .map((stretch) => stretchText(stretch, nodes));
  const more = accused.length - named.length;
  const others = more === 0 ? '' : `; ${formatCount(more)} shorter`;
  const unknown = stretches.find(({ isKnown }) => !isKnown);
  const rest =
    unknown === undefined
      ? ''
      : ` Of ${rangeText(unknown)} it is not known: show each rank, or zoom in.`;
  return named.length === 0
    ? `No rank is the straggler of any ${LEAST} iterations or more.${rest}`
    : `${named.join('; ')}${others}.${rest}`;
}

const costOf = ({ from, share, to }: Stretch): number => share * (to - from);

/** `iterations 430–664: rank 4 on lab-2, the others wait 31 % of the step for it` */
export function stretchText(
  { isKnown, rank, share, ...part }: Stretch,
  nodes: ReadonlyMap<number, string>,
): string {
  const who =
    rank === undefined
      ? isKnown
        ? 'no straggler'
        : 'not known'
      : `${rankTitle(rank, nodes)}, for which the others wait ${formatWholePercent(share)} of the step`;
  return `${rangeText(part)}: ${who}`;
}
