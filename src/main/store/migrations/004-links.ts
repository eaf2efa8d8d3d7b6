/**
 * Version 4: measurements of the links between machines, one row per direction, and why
 * the last attempt failed, each as validated JSON. A row is valid for the machines with
 * these identities: another machine of the same name has other links.
 */
export const linksMigration = `
  CREATE TABLE links (
    from_node TEXT NOT NULL,
    to_node TEXT NOT NULL,
    from_identity TEXT NOT NULL,
    to_identity TEXT NOT NULL,
    measure TEXT,
    failure TEXT,
    PRIMARY KEY (from_node, to_node)
  ) STRICT, WITHOUT ROWID;
`;
