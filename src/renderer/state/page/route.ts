/**
 * Places in the app as hashes: `#/start`, `#/new?preset=ID`, `#/runs`, `#/run/ID`,
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
    case 'compare':
      return formatComparison(route);
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

function formatComparison({ view: _, runs, ...choices }: CompareRoute): string {
  const query = Object.entries(choices)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join('&');
  const place = `#/compare/${runs.map(encodeURIComponent).join(',')}`;
  return query === '' ? place : `${place}?${query}`;
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
