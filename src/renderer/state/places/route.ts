/** Places in the app as hashes, by the definition of each view's places. */
import { comparePlace } from './compare.ts';
import { newPlace } from './new.ts';
import { onlyPlace, queryOf, type AnyPlace, type PlaceKind } from './place-kind.ts';
import { planPlace } from './plan.ts';
import { runPlace } from './run.ts';
import { runsPlace } from './runs.ts';
import { sweepsPlace } from './sweeps.ts';

/** The places of all views. What each view shows is in ../../views.svelte.ts. */
const KINDS = [
  onlyPlace('start'),
  newPlace,
  runsPlace,
  runPlace,
  sweepsPlace,
  comparePlace,
  planPlace,
  onlyPlace('figures'),
  onlyPlace('cluster'),
  onlyPlace('settings'),
] as const;

export type Route = (typeof KINDS)[number] extends infer Kind
  ? Kind extends PlaceKind<infer Place>
    ? Place
    : never
  : never;

/** An unknown hash leads to the start, a view's that names nothing to the runs. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view, id = ''] = path.split('/');
  const kind = KINDS.find((one) => one.view === view);
  if (kind === undefined) return { view: 'start' };
  return kind.read(id, queryOf(query)) ?? { view: 'runs' };
}

export function formatRoute(route: Route): string {
  // The kind that has the route's view writes the route's type: the compiler cannot pair them.
  const kind = KINDS.find(({ view }) => view === route.view) as PlaceKind<AnyPlace>;
  return `#/${kind.write(route)}`;
}
