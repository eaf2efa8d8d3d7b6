/**
 * The quality of `auto`'s choices: in each cell, a payload of one kind and shape on one world, the
 * time of what it takes beside that of the fastest, and what was predicted for it. Sums
 * that leave entries out do not compete.
 */
import { findCollective, isNamedOnly } from '../../src/agent/collectives/registry.ts';
import { formatDuration } from '../../src/shared/words/units.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { median } from '../quantiles.ts';
import { formatSize, type CollectiveLine } from './outcome-lines.ts';

export interface AutoLine {
  readonly type: 'auto';
  readonly section: string;
  readonly ranks: number;
  readonly links: string;
  readonly payload: 'dense' | 'sparse';
  readonly n: number;
  readonly k?: number | undefined;
  readonly chosen: string;
  readonly best: string;
  /** Time of the chosen over that of the best. */
  readonly ratio: number;
  readonly ms: number;
  readonly predictedMs: number;
}

export interface AutoSummary {
  readonly type: 'auto-summary';
  readonly cells: number;
  /** Share of the cells in which the chosen is within 10 % of the best. */
  readonly within10: number;
  /** Median over all algorithms and cells of |predicted − measured| / measured. */
  readonly medianPredictionError: number;
}

const TOLERANCE = 1.1;

/** @param lines of any number of worlds; where only one algorithm ran there is no choice */
export function autoLines(lines: readonly CollectiveLine[]): readonly AutoLine[] {
  const choices = lines.filter(
    ({ collective }) => !isNamedOnly(findCollective(collective)),
  );
  const cells = Map.groupBy(choices, ({ section, ranks, links, payload, n, k }) =>
    [section, ranks, links, payload, n, k ?? ''].join(' '),
  );
  return [...cells.values()].flatMap((cell): AutoLine[] => {
    const chosen = cell.find(({ auto }) => auto);
    const contested = new Set(cell.map(({ collective }) => collective)).size > 1;
    if (!contested || chosen === undefined) return [];
    const best = cell.reduce((least, one) => (one.ms < least.ms ? one : least));
    const { section, ranks, links, payload, n, k, ms } = chosen;
    return [
      {
        type: 'auto',
        section,
        ranks,
        links,
        payload,
        n,
        k,
        chosen: chosen.collective,
        best: best.collective,
        ratio: ms / best.ms,
        ms,
        predictedMs: chosen.predicted.ms,
      },
    ];
  });
}

/** The summary of all cells; undefined where there was nothing to choose. */
export function autoSummary(
  lines: readonly CollectiveLine[],
  choices: readonly AutoLine[],
): AutoSummary | undefined {
  if (choices.length === 0) return undefined;
  const good = choices.filter(({ ratio }) => ratio <= TOLERANCE).length;
  return {
    type: 'auto-summary',
    cells: choices.length,
    within10: good / choices.length,
    medianPredictionError: median(
      lines.map(({ ms, predicted }) => Math.abs(predicted.ms - ms) / ms),
    ),
  };
}

export function autoTable(choices: readonly AutoLine[], summary: AutoSummary): string {
  const header = [
    ...['links', 'P', 'size', 'k', 'auto', 'time', 'predicted', 'best', 'auto : best'],
  ];
  const rows = choices.map((line) => [
    line.links,
    String(line.ranks),
    formatSize(4 * line.n),
    line.k === undefined ? '' : String(line.k),
    line.chosen,
    formatDuration(line.ms),
    formatDuration(line.predictedMs),
    line.best,
    line.ratio.toFixed(2),
  ]);
  const table = textTable(
    [header, ...rows],
    header.map((title) =>
      ['links', 'auto', 'best'].includes(title) ? 'left' : 'right',
    ),
  );
  const { cells, within10, medianPredictionError } = summary;
  return (
    `${table}\nauto within 10 % of the best in ${(100 * within10).toFixed(0)} % of ` +
    `${cells} cells; predictions off by ${(100 * medianPredictionError).toFixed(0)} % ` +
    `(median of all algorithms)`
  );
}
