/** The units of the home's settings, for a command that needs nothing else of its history. */
import { existsSync } from 'node:fs';
import type { Home } from '../../main/home/home.ts';
import { RunStore } from '../../main/store/run-store.ts';
import { unitsOf } from '../../shared/settings/unit-settings.ts';
import { provideUnits } from '../../shared/words/display-units.ts';

/** @throws GradwireError if the history cannot be opened */
export function useHomeUnits({ database }: Pick<Home, 'database'>): void {
  if (!existsSync(database)) return;
  const store = RunStore.open(database, 'brief');
  try {
    const units = unitsOf(store.settings.all());
    provideUnits(() => units);
  } finally {
    store.close();
  }
}
