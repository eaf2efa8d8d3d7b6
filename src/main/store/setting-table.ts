/** The settings of a home: those that were changed, by key. */
import type Database from 'better-sqlite3';
import {
  checkSetting,
  readSettings,
  type Settings,
} from '../../shared/settings/settings.ts';
import type { GuardedDatabase } from './guarded-database.ts';

export class SettingTable {
  readonly #database: GuardedDatabase;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(guarded: GuardedDatabase, database: Database.Database) {
    this.#database = guarded;
    this.#statements = prepare(database);
  }

  /** All settings; one that was not changed, or cannot be read, has its default. */
  all(): Settings {
    return readSettings(this.#stored());
  }

  /** Keys of settings that were changed. */
  changed(): readonly string[] {
    return [...this.#stored().keys()];
  }

  /**
   * Changes a setting; undefined gives it its default again.
   * @throws GradwireError `SETTING_UNKNOWN`, `SETTING_INVALID`
   */
  set(key: string, value: unknown): void {
    const checked = checkSetting(key, value);
    this.#database.guard(() => {
      if (checked === undefined) this.#statements.remove.run(key);
      else this.#statements.set.run(key, JSON.stringify(checked));
    });
  }

  #stored(): ReadonlyMap<string, string> {
    return this.#database.guard(
      () => new Map(this.#statements.all.all().map(({ key, value }) => [key, value])),
    );
  }
}

const prepare = (database: Database.Database) => ({
  all: database.prepare<[], { key: string; value: string }>(
    'SELECT key, value FROM settings',
  ),
  set: database.prepare<[string, string]>(`
    INSERT INTO settings (key, value) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value`),
  remove: database.prepare<[string]>('DELETE FROM settings WHERE key = ?'),
});
