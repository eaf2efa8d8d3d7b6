/** Columns of a pinned iteration's table, and which of their values are worth a mark. */
import { median } from '../../shared/numbers/quantile.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';

/** A value this many times the median of the ranks is marked. */
const MUCH = 1.25;

export interface PinnedColumn {
  readonly title: string;
  readonly value: (record: IterationRecord) => number | undefined;
  readonly text: (value: number) => string;
}

interface ShownColumn extends PinnedColumn {
  /** Values above it are marked. */
  readonly much: number;
}

/**
 * Columns in which a rank has something. Ranks without a value, such as the stages of a pipeline
 * that have no loss, say nothing about those that have one.
 */
export const shownColumns = (
  columns: readonly PinnedColumn[],
  records: readonly IterationRecord[],
): readonly ShownColumn[] =>
  columns.flatMap((column) => {
    const values = records.flatMap((record) => column.value(record) ?? []);
    if (values.every((value) => value === 0)) return [];
    const usual = median(values)!;
    // A loss may be below zero, where 1.25 times the median is less than it.
    return [{ ...column, much: usual + (MUCH - 1) * Math.abs(usual) }];
  });
