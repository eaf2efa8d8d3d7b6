/** Version 8: machines are found by the names that they had. */
export const nodeRenamesMigration = `
  CREATE TABLE node_renames (
    was TEXT PRIMARY KEY,
    name TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
