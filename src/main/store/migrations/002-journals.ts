/**
 * Version 2: a run has a journal on each of its nodes, stored up to its own sequence;
 * `runs.last_sequence` counts the records stored from all of them, in the order of
 * arrival. The end of a journal is kept until all have ended: the run ends with the last
 * of them.
 */
export const journalsMigration = `
  CREATE TABLE journals (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    node TEXT NOT NULL,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    ending TEXT,
    PRIMARY KEY (run, node)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO journals (run, node, last_sequence)
    SELECT number, spec ->> '$.world.nodes[0]', last_sequence FROM runs;
`;
