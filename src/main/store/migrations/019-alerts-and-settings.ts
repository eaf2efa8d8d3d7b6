/**
 * Version 19: alerts and settings. `runs.alerts` has the alerts of a run for lists, as JSON; NULL:
 * none. `alert_watches` has the state of the rules over runs that have not ended. A setting is stored
 * if it was changed, as JSON.
 */
export const alertsAndSettingsMigration = `
  ALTER TABLE runs ADD COLUMN alerts TEXT;

  CREATE TABLE alert_watches (
    run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
