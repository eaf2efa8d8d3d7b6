/**
 * Predictions of exchanges, held against their measured times and the time that their bytes
 * take on the link at the least, which no prediction may beat.
 */
import { formatDuration } from '../../src/shared/words/units.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { median } from '../quantiles.ts';
import { LINK_RATES } from './links.ts';
import { formatSize, type CollectiveLine } from './outcome-lines.ts';

export interface PredictionLine {
  readonly type: 'prediction';
  readonly links: string;
  readonly ranks: number;
  readonly bytes: number;
  readonly collective: string;
  readonly auto: boolean;
  readonly ms: number;
  readonly predictedMs: number;
  /** Predicted over measured, less 1. */
  readonly off: number;
  /** Time of the busiest rank's bytes at the link's rate; undefined where the link has none. */
  readonly wireMs?: number | undefined;
}

export interface PredictionSummary {
  readonly type: 'prediction-summary';
  readonly predictions: number;
  /** Share of those that are off by 15 % at most. */
  readonly within15: number;
  /** The same of what `auto` takes; null where it takes nothing that was measured. */
  readonly autoWithin15: number | null;
  readonly medianOff: number;
  /** Number of those below the wire. */
  readonly belowWire: number;
}

const TOLERANCE = 0.15;

export function predictionLines(
  lines: readonly CollectiveLine[],
): readonly PredictionLine[] {
  return lines
    .filter(({ section }) => section === 'predictions')
    .map(({ auto, bytes, collective, links, ms, predicted, ranks, wire }) => {
      const rate = LINK_RATES[links];
      return {
        type: 'prediction',
        links,
        ranks,
        bytes,
        collective,
        auto,
        ms,
        predictedMs: predicted.ms,
        off: predicted.ms / ms - 1,
        wireMs: rate === undefined ? undefined : (8e3 * wire.payload) / rate,
      };
    });
}

/** The summary of all predictions; undefined where nothing was predicted. */
export function predictionSummary(
  lines: readonly PredictionLine[],
): PredictionSummary | undefined {
  if (lines.length === 0) return undefined;
  const within = (some: readonly PredictionLine[]): number | null =>
    some.length === 0
      ? null
      : some.filter(({ off }) => Math.abs(off) <= TOLERANCE).length / some.length;
  return {
    type: 'prediction-summary',
    predictions: lines.length,
    within15: within(lines)!,
    autoWithin15: within(lines.filter(({ auto }) => auto)),
    medianOff: median(lines.map(({ off }) => Math.abs(off))),
    belowWire: lines.filter(isBelowWire).length,
  };
}

const isBelowWire = ({ predictedMs, wireMs }: PredictionLine): boolean =>
  wireMs !== undefined && predictedMs < wireMs;

export function predictionTable(
  lines: readonly PredictionLine[],
  summary: PredictionSummary,
): string {
  const header = [
    'links',
    'P',
    'size',
    'algorithm',
    'time',
    'predicted',
    'off',
    'wire',
  ];
  const rows = lines.map((line) => [
    line.links,
    String(line.ranks),
    formatSize(line.bytes),
    line.auto ? `${line.collective} (auto)` : line.collective,
    formatDuration(line.ms),
    formatDuration(line.predictedMs),
    `${line.off < 0 ? '−' : '+'}${percent(Math.abs(line.off))}`,
    line.wireMs === undefined
      ? ''
      : `${formatDuration(line.wireMs)}${isBelowWire(line) ? ' !' : ''}`,
  ]);
  const table = textTable(
    [header, ...rows],
    header.map((title) =>
      title === 'links' || title === 'algorithm' ? 'left' : 'right',
    ),
  );
  const { autoWithin15, belowWire, medianOff, predictions, within15 } = summary;
  const auto =
    autoWithin15 === null ? '' : `, of what auto takes ${percent(autoWithin15)}`;
  return (
    `${table}\n${percent(within15)} of ${predictions} predictions within 15 %${auto}; ` +
    `off by ${percent(medianOff)} (median); ${belowWire} below the wire`
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
