/**
 * Places in the app as hashes: `#/start`, `#/new?preset=ID`, `#/runs?filter=TERMS`, `#/run/ID`,
 * `#/compare/ID,ID?target=90%25&by=bytes`, `#/cluster`.
 */

import { QUANTITY_IDS, type QuantityId } from '../../../shared/comparison/quantity.ts';
import { COST_IDS, type CostId } from '../../../shared/comparison/target.ts';

/** Runs side by side. What is not given has its default. */
export interface CompareRoute {
  readonly view: 'compare';
  /** Ids of runs, each once. */
  readonly runs: readonly string[];
  readonly of?: QuantityId | undefined;
  /** The target as it was written. */
  readonly target?: string | undefined;
  readonly by?: CostId | undefined;
  readonly baseline?: string | undefined;
}

/** The list of runs. What is not given has its default. */
export interface RunsRoute {
  readonly view: 'runs';
  /** A filter as it was written. */
  readonly filter?: string | undefined;
  /** A key, with `-` before it descending. */
  readonly order?: string | undefined;
  /** A key by which runs are grouped. */
  readonly group?: string | undefined;
  /** True: deleted runs. */
  readonly deleted?: true | undefined;
  /** A page, from 2 on. */
  readonly page?: number | undefined;
}

/** Whether the place is the list without any choice. */
export const isWholeList = ({ view: _, ...choices }: RunsRoute): boolean =>
  Object.values(choices).every((choice) => choice === undefined);

export type Route =
  | { readonly view: 'start' }
  | {
      readonly view: 'new';
      /** A preset to start from. */
      readonly preset?: string | undefined;
      /** A run whose spec to start from. */
      readonly run?: string | undefined;
    }
  | RunsRoute
  | { readonly view: 'cluster' }
  | CompareRoute
  | { readonly view: 'run'; readonly run: string };

/** An unknown hash leads to the start. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view, id] = path.split('/');
  switch (view) {
    case 'new': {
      const parameters = parametersOf(query);
      return { view, preset: parameters.get('preset'), run: parameters.get('run') };
    }
    case 'compare': {
      const parameters = parametersOf(query);
      const runs = (id ?? '').split(',').map(decode);
      return {
        view,
        runs: [...new Set(runs)].filter((run) => run !== ''),
        of: QUANTITY_IDS.find((one) => one === parameters.get('of')),
        target: parameters.get('target'),
        by: COST_IDS.find((one) => one === parameters.get('by')),
        baseline: parameters.get('baseline'),
      };
    }
    case 'runs':
      return runsPlace(parametersOf(query));
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
    case 'cluster':
      return `#/${route.view}`;
    case 'runs':
      return withChoices('#/runs', route);
    case 'run':
      return `#/run/${encodeURIComponent(route.run)}`;
    case 'compare':
      return withChoices(
        `#/compare/${route.runs.map(encodeURIComponent).join(',')}`,
        route,
      );
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

/** Keys of places that are in the address itself. */
const IN_ADDRESS: readonly string[] = ['view', 'runs'];

/** An address with what was chosen there. */
function withChoices(address: string, place: CompareRoute | RunsRoute): string {
  const query = Object.entries(place)
    .filter(([key, value]) => value !== undefined && !IN_ADDRESS.includes(key))
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&');
  return query === '' ? address : `${address}?${query}`;
}

function runsPlace(parameters: ReadonlyMap<string, string>): RunsRoute {
  const page = Number(parameters.get('page'));
  const deleted = parameters.get('deleted') === 'true';
  return {
    view: 'runs',
    filter: parameters.get('filter'),
    order: parameters.get('order'),
    group: parameters.get('group'),
    ...(deleted ? { deleted } : {}),
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
  };
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  return new Map(
    query
      .split('&')
      .filter((part) => part !== '')
      .map((part): [string, string] => {
        const [key = '', value = ''] = part.split('=', 2);
        return [decode(key), decode(value)];
      }),
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A malformed escape in a typed address is taken literally and matches nothing.
    return text;
  }
}
