/** Records of a run, by type. */
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';

export type OfType<T extends RunRecord['type']> = Extract<RunRecord, { type: T }>;

export const isOfType =
  <T extends RunRecord['type']>(type: T) =>
  (record: RunRecord): record is OfType<T> =>
    record.type === type;

export const ofType = <T extends RunRecord['type']>(
  records: readonly RunRecord[],
  type: T,
): readonly OfType<T>[] => records.filter(isOfType(type));
