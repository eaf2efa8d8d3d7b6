/**
 * Places in the app as hashes: `#/start`, `#/new?preset=ID`, `#/runs`, `#/run/ID`,
 * `#/cluster`.
 */

export type Route =
  | { readonly view: 'start' }
  | {
      readonly view: 'new';
      /** A preset to start from. */
      readonly preset?: string | undefined;
      /** A run whose spec to start from. */
      readonly run?: string | undefined;
    }
  | { readonly view: 'runs' }
  | { readonly view: 'cluster' }
  | { readonly view: 'run'; readonly run: string };

/** An unknown hash leads to the start. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view, id] = path.split('/');
  switch (view) {
    case 'new': {
      const parameters = new Map(
        query
          .split('&')
          .filter((part) => part !== '')
          .map((part): [string, string] => {
            const [key = '', value = ''] = part.split('=', 2);
            return [decode(key), decode(value)];
          }),
      );
      return { view, preset: parameters.get('preset'), run: parameters.get('run') };
    }
    case 'runs':
    case 'cluster':
      return { view };
    case 'run':
      return id === undefined || id === ''
        ? { view: 'runs' }
        : { view, run: decode(id) };
    default:
      return { view: 'start' };
  }
}

export function formatRoute(route: Route): string {
  switch (route.view) {
    case 'start':
    case 'runs':
    case 'cluster':
      return `#/${route.view}`;
    case 'run':
      return `#/run/${encodeURIComponent(route.run)}`;
    case 'new':
      if (route.preset !== undefined) {
        return `#/new?preset=${encodeURIComponent(route.preset)}`;
      }
      if (route.run !== undefined) return `#/new?run=${encodeURIComponent(route.run)}`;
      return '#/new';
    default:
      return route satisfies never;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A malformed escape in a typed address is taken literally and matches nothing.
    return text;
  }
}
