/**
 * Version 9: what was last found out about machines, this computer included: the report of
 * a check and its time, and the agent installed there. A row is valid for the machine of
 * this identity alone.
 */
export const nodeFactsMigration = `
  CREATE TABLE node_facts (
    name TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    preflight TEXT,
    checked_at REAL,
    agent TEXT
  ) STRICT, WITHOUT ROWID;
`;
