/** Version 3: the inventory of machines, an entry each, as the JSON that was validated. */
export const nodesMigration = `
  CREATE TABLE nodes (
    name TEXT PRIMARY KEY,
    entry TEXT NOT NULL,
    added_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
