/** Version 10: what was measured between ranks on a machine, a network profile as JSON. */
export const nodeNetworksMigration = `
  ALTER TABLE node_facts ADD COLUMN network TEXT;
`;
