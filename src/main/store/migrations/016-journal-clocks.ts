/**
 * Version 16: by how much this computer's clock is ahead of that of a journal's machine, ms: the
 * least that was seen between a record and its arrival. Null: unknown, of runs stored before.
 */
export const journalClocksMigration = `
  ALTER TABLE journals ADD COLUMN clock_ahead REAL;
`;
