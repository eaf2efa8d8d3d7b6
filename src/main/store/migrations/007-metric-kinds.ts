/**
 * Version 7: a model states its metric. Runs of earlier versions, which have none stored,
 * used the accuracy.
 */
export const metricKindsMigration = `
  ALTER TABLE runs ADD COLUMN metric_kind TEXT;
`;
