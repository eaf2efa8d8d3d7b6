/**
 * The views of the app: what each is called, where the rail and the palette have it, and the
 * component that shows its places. The view that the address names is loaded while the line to
 * the host comes up, the others when the page is idle, terminals with the first of them. How the
 * places of a view are written in the address: state/places.
 */
import type { Component } from 'svelte';
import BookOpenCheck from '@lucide/svelte/icons/book-open-check';
import GitCompare from '@lucide/svelte/icons/git-compare-arrows';
import History from '@lucide/svelte/icons/history';
import House from '@lucide/svelte/icons/house';
import ListOrdered from '@lucide/svelte/icons/list-ordered';
import Plus from '@lucide/svelte/icons/plus';
import Ruler from '@lucide/svelte/icons/ruler';
import Settings from '@lucide/svelte/icons/settings';
import Server from '@lucide/svelte/icons/server';
import type { RailPlace } from './components/page/rail-place.ts';
import { LazyView, loadWhenIdle } from './state/page/lazy-view.svelte.ts';
import type { Route } from './state/places/route.ts';
import StartView from './views/StartView.svelte';

type PlaceOf<View extends Route['view']> = Extract<Route, { readonly view: View }>;

/** A view whose places have the type `Place`. */
interface ViewDefinition<Place, Props extends Record<string, unknown>> {
  readonly part: LazyView<Component<Props>>;
  readonly props: (place: Place) => Props;
  /** A place with another key gets a new component, one with the same key changes its props. */
  readonly key: (place: Place) => string;
  /** The place in the rail; undefined if only other views lead here. */
  readonly rail?: RailPlace;
}

const ALWAYS = (): string => '';

function define<Place, Props extends Record<string, unknown>>(
  definition: ViewDefinition<Place, Props>,
): ViewDefinition<Place, Props> {
  return definition;
}

/** All views, in the order of the rail. */
const VIEWS = {
  start: define<PlaceOf<'start'>, Record<string, never>>({
    part: new LazyView(() => import('./views/StartView.svelte'), StartView),
    props: () => ({}),
    key: ALWAYS,
    rail: { title: 'Start', icon: House, to: { view: 'start' } },
  }),
  new: define({
    part: new LazyView(() => import('./views/NewExperimentView.svelte')),
    props: ({ preset, run }: PlaceOf<'new'>) => ({ preset, run }),
    key: ({ preset, run }) => `${preset} ${run}`,
    rail: {
      title: 'New experiment',
      icon: Plus,
      to: { view: 'new' },
      shortcuts: ['mod+n'],
    },
  }),
  runs: define({
    part: new LazyView(() => import('./views/RunsView.svelte')),
    props: (place: PlaceOf<'runs'>) => ({ place }),
    key: ALWAYS,
    rail: { title: 'Runs', icon: History, to: { view: 'runs' } },
  }),
  run: define({
    part: new LazyView(() => import('./views/LiveRunView.svelte')),
    props: ({ run }: PlaceOf<'run'>) => ({ run }),
    key: ({ run }) => run,
  }),
  sweeps: define({
    part: new LazyView(() => import('./views/SweepsView.svelte')),
    props: ({ sweep }: PlaceOf<'sweeps'>) => ({ sweep }),
    key: ({ sweep }) => sweep ?? '',
    rail: { title: 'Sweeps', icon: ListOrdered, to: { view: 'sweeps' } },
  }),
  compare: define({
    part: new LazyView(() => import('./views/CompareView.svelte')),
    props: (place: PlaceOf<'compare'>) => ({ place }),
    key: ALWAYS,
    rail: { title: 'Compare', icon: GitCompare, to: { view: 'compare', runs: [] } },
  }),
  plan: define({
    part: new LazyView(() => import('./views/PlanView.svelte')),
    props: (place: PlaceOf<'plan'>) => ({ place }),
    key: ALWAYS,
    rail: { title: 'Plan', icon: Ruler, to: { view: 'plan' } },
  }),
  figures: define<PlaceOf<'figures'>, Record<string, never>>({
    part: new LazyView(() => import('./views/FiguresView.svelte')),
    props: () => ({}),
    key: ALWAYS,
    rail: { title: 'Figures', icon: BookOpenCheck, to: { view: 'figures' } },
  }),
  cluster: define<PlaceOf<'cluster'>, Record<string, never>>({
    part: new LazyView(() => import('./views/ClusterView.svelte')),
    props: () => ({}),
    key: ALWAYS,
    rail: { title: 'Cluster', icon: Server, to: { view: 'cluster' } },
  }),
  settings: define<PlaceOf<'settings'>, Record<string, never>>({
    part: new LazyView(() => import('./views/SettingsView.svelte')),
    props: () => ({}),
    key: ALWAYS,
    rail: {
      title: 'Settings',
      icon: Settings,
      to: { view: 'settings' },
      shortcuts: ['mod+,'],
    },
  }),
} satisfies Record<Route['view'], unknown>;

export const terminalDock = new LazyView(
  () => import('./terminal/TerminalDock.svelte'),
);

/** The view of a place. The compiler cannot pair a place with the definition of its view. */
export function viewOf(place: Route): ViewDefinition<Route, Record<string, unknown>> {
  return VIEWS[place.view] as unknown as ViewDefinition<Route, Record<string, unknown>>;
}

export const railPlaces: readonly RailPlace[] = Object.values(VIEWS).flatMap((view) =>
  'rail' in view ? [view.rail] : [],
);

export function loadViewsWhenIdle(): () => void {
  return loadWhenIdle(Object.values(VIEWS).map(({ part }) => part));
}
