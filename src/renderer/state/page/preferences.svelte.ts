/**
 * The user's display choices, kept between visits in the browser's storage. If the
 * storage is full or forbidden, a choice lasts until the page is left.
 */

import { columnsFrom, DEFAULT_COLUMNS } from './run-columns.ts';
import { placesFrom, remembered, type RunPlaces } from './run-places.ts';

export const THEMES = ['auto', 'dark', 'light'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'gradwire.preferences';

interface Stored {
  readonly theme?: unknown;
  readonly patterns?: unknown;
  readonly smoothing?: unknown;
  readonly runPlaces?: unknown;
  readonly runColumns?: unknown;
  readonly hasSeenTour?: unknown;
}

export class Preferences {
  #theme = $state<Theme>('auto');
  #patterns = $state(false);
  #smoothing = $state(0.95);
  #runPlaces = $state.raw<RunPlaces>({});
  #runColumns = $state.raw<readonly string[]>(DEFAULT_COLUMNS);
  #hasSeenTour = $state(false);
  #systemDark = $state(false);
  readonly #ended = new AbortController();

  constructor() {
    const stored = read();
    this.#theme = THEMES.find((theme) => theme === stored.theme) ?? 'auto';
    this.#patterns = stored.patterns === true;
    if (typeof stored.smoothing === 'number' && stored.smoothing >= 0) {
      this.#smoothing = Math.min(0.999, stored.smoothing);
    }
    this.#runPlaces = placesFrom(stored.runPlaces);
    this.#runColumns = columnsFrom(stored.runColumns);
    this.#hasSeenTour = stored.hasSeenTour === true;
    const media = window.matchMedia('(prefers-color-scheme: dark)');
    this.#systemDark = media.matches;
    media.addEventListener(
      'change',
      (event) => {
        this.#systemDark = event.matches;
        this.#apply();
      },
      { signal: this.#ended.signal },
    );
    this.#apply();
  }

  get theme(): Theme {
    return this.#theme;
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    this.#apply();
    this.#save();
  }

  /** The resolved theme; charts read their colours again when it changes. */
  get scheme(): 'dark' | 'light' {
    if (this.#theme !== 'auto') return this.#theme;
    return this.#systemDark ? 'dark' : 'light';
  }

  /** Whether phases are told apart by patterns besides colours. */
  get patterns(): boolean {
    return this.#patterns;
  }

  set patterns(patterns: boolean) {
    this.#patterns = patterns;
    this.#save();
  }

  /** The weight of the past in smoothed curves per iteration, 0…0.999. */
  get smoothing(): number {
    return this.#smoothing;
  }

  set smoothing(smoothing: number) {
    this.#smoothing = smoothing;
    this.#save();
  }

  /** Places of runs in the palette of comparisons. */
  get runPlaces(): RunPlaces {
    return this.#runPlaces;
  }

  /** Keeps the places that runs got for the first time. */
  rememberPlaces(places: RunPlaces): void {
    const all = remembered(this.#runPlaces, places);
    if (all === this.#runPlaces) return;
    this.#runPlaces = all;
    this.#save();
  }

  /** Names of the columns of the list of runs. */
  get runColumns(): readonly string[] {
    return this.#runColumns;
  }

  set runColumns(columns: readonly string[]) {
    this.#runColumns = columns;
    this.#save();
  }

  /** Whether the tour was seen or declined; it is not offered again. */
  get hasSeenTour(): boolean {
    return this.#hasSeenTour;
  }

  set hasSeenTour(seen: boolean) {
    this.#hasSeenTour = seen;
    this.#save();
  }

  setPlace(run: string, place: number): void {
    this.#runPlaces = { ...this.#runPlaces, [run]: place };
    this.#save();
  }

  close(): void {
    this.#ended.abort();
  }

  #apply(): void {
    document.documentElement.dataset['theme'] = this.scheme;
  }

  #save(): void {
    const stored: Stored = {
      theme: this.#theme,
      patterns: this.#patterns,
      smoothing: this.#smoothing,
      runPlaces: this.#runPlaces,
      runColumns: this.#runColumns,
      hasSeenTour: this.#hasSeenTour,
    };
    try {
      window.localStorage.setItem(KEY, JSON.stringify(stored));
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }
}

function read(): Stored {
  try {
    const stored: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? stored : {};
  } catch (error) {
    // Forbidden storage, or text of another version: use the defaults.
    if (!(error instanceof DOMException || error instanceof SyntaxError)) throw error;
    return {};
  }
}
