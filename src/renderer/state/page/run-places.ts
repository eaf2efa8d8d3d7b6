/**
 * Colours of runs in comparisons. A run keeps the place in the palette that it first got, on this
 * browser; only within one comparison another one is lent to it if its own is taken. Beyond the
 * seven colours, lines are dashed, then dotted.
 */

/** Colours of the style sheet, `--run-1` and so on. */
const COLOURS = 7;

/** Dashes of a line in pixels, one pattern for each round through the colours. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3]];

/** Looks that differ. */
export const PLACES = COLOURS * DASHES.length;

/** Most runs whose places are remembered. */
const MOST_REMEMBERED = 500;

/** Places by run. */
export type RunPlaces = Readonly<Record<string, number>>;

interface PlaceStyle {
  /** A custom property of the style sheet. */
  readonly property: string;
  readonly dash: readonly number[];
}

export function styleOf(place: number): PlaceStyle {
  const round = Math.floor(place / COLOURS) % DASHES.length;
  return { property: `--run-${(place % COLOURS) + 1}`, dash: DASHES[round]! };
}

/**
 * Places of the first runs of groups, in their order: their own where these are free.
 * @returns places by run
 */
export function placesOf(runs: readonly string[], known: RunPlaces): RunPlaces {
  const taken = new Set<number>();
  const places: Record<string, number> = {};
  for (const run of runs) {
    const own = known[run];
    if (own === undefined || taken.has(own)) continue;
    taken.add(own);
    places[run] = own;
  }
  let free = 0;
  for (const run of runs) {
    if (places[run] !== undefined) continue;
    while (taken.has(free)) free += 1;
    // More configurations than looks: they begin again.
    const place = free % PLACES;
    taken.add(free);
    places[run] = place;
  }
  return places;
}

/** The remembered places with those of runs that had none; the oldest are forgotten. */
export function remembered(known: RunPlaces, places: RunPlaces): RunPlaces {
  const fresh = Object.entries(places).filter(([run]) => known[run] === undefined);
  if (fresh.length === 0) return known;
  return Object.fromEntries(
    [...Object.entries(known), ...fresh].slice(-MOST_REMEMBERED),
  );
}

/** The next place that no group of a comparison has, for a group with another colour. */
export function nextPlace(taken: readonly number[], own: number): number {
  for (let step = 1; step < PLACES; step++) {
    const place = (own + step) % PLACES;
    if (!taken.includes(place)) return place;
  }
  return (own + 1) % PLACES;
}

/** Places as they were stored; what is none is left out. */
export function placesFrom(stored: unknown): RunPlaces {
  if (typeof stored !== 'object' || stored === null) return {};
  return Object.fromEntries(
    Object.entries(stored).filter(
      (entry): entry is [string, number] =>
        Number.isInteger(entry[1]) && entry[1] >= 0 && entry[1] < PLACES,
    ),
  );
}
