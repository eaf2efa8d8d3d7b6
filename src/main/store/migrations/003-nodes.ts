/** Version 3: the inventory of machines, one entry each, as validated JSON. */
export const nodesMigration = `
  CREATE TABLE nodes (
    name TEXT PRIMARY KEY,
    entry TEXT NOT NULL,
    added_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
