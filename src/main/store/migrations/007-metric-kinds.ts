/**
 * Version 7: a model says what it is measured by. Runs of earlier versions, which have none
 * stored, were measured by their accuracy.
 */
export const metricKindsMigration = `
  ALTER TABLE runs ADD COLUMN metric_kind TEXT;
`;
