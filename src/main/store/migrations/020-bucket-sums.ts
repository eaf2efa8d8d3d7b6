/**
 * Version 20: sums of buckets over intervals in a separate table, which is read only where buckets
 * are shown. Records are packed (`packed-sums.ts`).
 */
export const bucketSumsMigration = `
  CREATE TABLE bucket_sums (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    record BLOB NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX bucket_sums_by_place ON bucket_sums (run, first, last, rank);
`;
