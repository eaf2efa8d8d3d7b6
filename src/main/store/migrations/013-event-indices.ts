/**
 * Version 13: events that say what a run is, and evaluations by iteration, are found without
 * reading all events, of which a run that inspects every iteration has hundreds of thousands.
 */

/** Events without which a run is not understood: few, in any run. */
export const SHAPES_RUN = `record ->> '$.type' IN ('started', 'switch', 'queued', 'allocated',
  'interrupted', 'restarted', 'thinned', 'finished', 'done', 'failed')`;

export const eventIndicesMigration = `
  CREATE INDEX events_that_shape ON events (run, sequence) WHERE ${SHAPES_RUN};
  CREATE INDEX evaluations_by_iteration ON events (run, record ->> '$.iteration')
    WHERE record ->> '$.type' = 'evaluation';
`;
