/** Texts of costs, at axes and in sentences. */
import type { CostId } from '../../shared/comparison/target.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  shorten,
} from '../../shared/words/units.ts';

const FORMATS: Readonly<Record<CostId, (value: number) => string>> = {
  time: (value) => formatDuration(value),
  bytes: (value) => formatBytes(value),
  iterations: (value) => formatCount(value),
  passes: (value) => value.toFixed(2),
};

export const formatCost = (by: CostId, value: number): string =>
  shorten(FORMATS[by](value));
