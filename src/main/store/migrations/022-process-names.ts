/**
 * Version 22: who launches a run and who drives a sweep by a name that says on which host and in
 * which container (`process-name.ts`). A number, which was all until then, becomes a text.
 */
export const processNamesMigration = `
  ALTER TABLE runs ADD COLUMN launcher_name TEXT;
  UPDATE runs SET launcher_name = CAST(launcher AS TEXT) WHERE launcher IS NOT NULL;
  ALTER TABLE runs DROP COLUMN launcher;
  ALTER TABLE runs RENAME COLUMN launcher_name TO launcher;

  ALTER TABLE sweeps ADD COLUMN driver_name TEXT;
  UPDATE sweeps SET driver_name = CAST(driver AS TEXT) WHERE driver IS NOT NULL;
  ALTER TABLE sweeps DROP COLUMN driver;
  ALTER TABLE sweeps RENAME COLUMN driver_name TO driver;
`;
