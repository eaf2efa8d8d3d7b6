/** The settings of the home, as the host has them: the same in every page and for commands. */
import type {
  Settings,
  SettingsState,
  SettingValue,
} from '../../../shared/settings/setting.ts';
import type { Connection } from '../host/host-connection.ts';
import type { Toasts } from '../page/toasts.svelte.ts';

export class HomeSettings {
  readonly #connection: Connection;
  readonly #toasts: Toasts;
  readonly #stop: () => void;
  #state = $state.raw<SettingsState>();
  #isSettled = $state(false);

  constructor(connection: Connection, toasts: Toasts) {
    this.#connection = connection;
    this.#toasts = toasts;
    this.#stop = connection.on('settingsChanged', (state) => {
      this.#state = state;
    });
  }

  /** The settings; undefined until the host has answered. */
  get values(): Settings | undefined {
    return this.#state?.values;
  }

  /** Whether the host has answered, or could not. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  isChanged(key: string): boolean {
    return this.#state?.changed.includes(key) === true;
  }

  async load(): Promise<void> {
    await this.#try(async () => {
      this.#state = await this.#connection.api.settings();
    });
    this.#isSettled = true;
  }

  /** Changes a setting; undefined gives it its default again. */
  async change(key: string, value: SettingValue | undefined): Promise<void> {
    const { api } = this.#connection;
    await this.#try(() =>
      value === undefined ? api.changeSetting(key) : api.changeSetting(key, value),
    );
    // What was refused is shown as it is.
    await this.load();
  }

  close(): void {
    this.#stop();
  }

  async #try(ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      this.#toasts.error(error);
    }
  }
}
