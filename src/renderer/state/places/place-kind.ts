/** Definitions of places: the addresses in which a view's places are written. */

/** The part of an address behind `?`, by name. */
export type Query = ReadonlyMap<string, string>;

/** A place in the app: a view and what it shows. */
export interface AnyPlace {
  readonly view: string;
}

/** The places of one view. A view without choices has one place. */
export interface PlaceKind<Place extends AnyPlace> {
  /** The first part of the address: `runs` of `#/runs?filter=…`. */
  readonly view: Place['view'];
  /**
   * @param id the second part of the path, still escaped; '' where there is none
   * @returns undefined: the address has no place here and leads to the fallback
   */
  read(id: string, query: Query): Place | undefined;
  /** The address behind `#/`. */
  write(place: Place): string;
}

/** Keeps the literal type of `view`. */
export function placeKind<const Place extends AnyPlace>(
  kind: PlaceKind<Place>,
): PlaceKind<Place> {
  return kind;
}

/** A view that shows one thing. */
export function onlyPlace<const View extends string>(
  view: View,
): PlaceKind<{ readonly view: View }> {
  return { view, read: () => ({ view }), write: () => view };
}

/** An address with what was chosen there; what is undefined is left out. */
export function withChoices(
  address: string,
  choices: Readonly<Record<string, unknown>>,
): string {
  const query = Object.entries(choices)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&');
  return query === '' ? address : `${address}?${query}`;
}

export function queryOf(text: string): Query {
  return new Map(
    text
      .split('&')
      .filter((part) => part !== '')
      .map((part): [string, string] => {
        const [key = '', value = ''] = part.split('=', 2);
        return [unescaped(key), unescaped(value)];
      }),
  );
}

export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A malformed escape in a typed address is taken literally and matches nothing.
    return text;
  }
}
