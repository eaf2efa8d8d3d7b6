/** Settings for pages. */
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import { unitsOf } from '../../shared/settings/unit-settings.ts';
import {
  DEFAULT_UNITS,
  provideUnits,
  type DisplayUnits,
} from '../../shared/words/display-units.ts';
import type { SettingsState } from '../../shared/settings/setting.ts';
import type { RunStore } from '../store/run-store.ts';
import type { EventOutbox } from './event-outbox.ts';

export class SettingsDesk {
  readonly #store: RunStore;
  readonly #outbox: EventOutbox;
  #told: string | undefined;
  #units: DisplayUnits;

  constructor(store: RunStore, outbox: EventOutbox) {
    this.#store = store;
    this.#units = unitsOf(store.settings.all());
    this.#outbox = outbox;
    provideUnits(() => this.#units);
  }

  readonly api: Pick<CoreApi, 'changeSetting' | 'settings'> = {
    settings: async () => {
      // A page may see what another process has changed before the next look does.
      this.look();
      return this.#state();
    },
    changeSetting: async (key, value) => {
      this.#store.settings.set(key, value);
      this.look();
    },
  };

  /** Tells pages of settings that were changed, here or by another process. */
  look(): void {
    const state = this.#state();
    this.#units = unitsOf(state.values);
    const text = JSON.stringify(state);
    if (text === this.#told) return;
    this.#told = text;
    this.#outbox.settingsChanged(state);
  }

  close(): void {
    provideUnits(() => DEFAULT_UNITS);
  }

  #state(): SettingsState {
    const { settings } = this.#store;
    return { values: settings.all(), changed: settings.changed() };
  }
}
