/**
 * Version 4: what was measured of the links between machines, one row a direction, and why
 * the last attempt failed, each as the JSON that was validated. It holds for the machines
 * that these identities meant: another machine of the same name has other links.
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
