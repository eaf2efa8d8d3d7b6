/**
 * Parts of the page that are files of their own, so that the first screen does not wait for
 * charts, forms and lists. The view that the address names is loaded while the line to the host
 * comes up, the others when the page is idle, terminals with the first of them.
 */
import { failure, type ErrorData } from '../shared/errors/errors.ts';
import type { Route } from './state/page/route.ts';

/** A page that draws all the time is never idle. */
const LONGEST_WAIT_MS = 1000;

/** A component by its file. What is read in an effect or a derived value is followed. */
class LazyView<View> {
  readonly #import: () => Promise<{ readonly default: View }>;
  #loading: Promise<void> | undefined;
  #component = $state.raw<View>();
  #error = $state.raw<ErrorData>();

  /** @param from its file, as an import() that the build sees */
  constructor(from: () => Promise<{ readonly default: View }>) {
    this.#import = from;
  }

  get component(): View | undefined {
    return this.#component;
  }

  /** Browsers do not retry a failed import, so only a reload helps. */
  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Loads it once. Never rejects: sets `component` or `error`. */
  load(): Promise<void> {
    this.#loading ??= this.#import().then(
      ({ default: component }) => {
        this.#component = component;
      },
      () => {
        this.#error = failure(
          'VIEW_NOT_LOADED',
          'a part of the page could not be loaded',
          {
            next: 'Reload the page; if that fails, restart Gradwire.',
          },
        ).toData();
      },
    );
    return this.#loading;
  }
}

export const lazyViews = {
  runs: new LazyView(() => import('./views/RunsView.svelte')),
  run: new LazyView(() => import('./views/LiveRunView.svelte')),
  new: new LazyView(() => import('./views/NewExperimentView.svelte')),
  compare: new LazyView(() => import('./views/CompareView.svelte')),
  cluster: new LazyView(() => import('./views/ClusterView.svelte')),
};

export const terminalDock = new LazyView(
  () => import('./terminal/TerminalDock.svelte'),
);

/** Whether the route's view has loaded or failed. Effects follow it. */
export function isSettled({ view }: Route): boolean {
  if (!(view in lazyViews)) return true;
  const { component, error } = lazyViews[view as keyof typeof lazyViews];
  return component !== undefined || error !== undefined;
}

export async function loadView({ view }: Route): Promise<void> {
  if (view in lazyViews) await lazyViews[view as keyof typeof lazyViews].load();
}

/**
 * Loads all views while the page has nothing else to do, one after another: a click then
 * shows its page at once. Views that do not come show it by their own `error`.
 * @returns what ends it
 */
export function loadViewsWhenIdle(): () => void {
  let ended = false;
  let cancel = (): void => undefined;
  const next = ([view, ...rest]: readonly LazyView<unknown>[]): void => {
    if (view === undefined) return;
    cancel = whenIdle(() => {
      void view.load().then(() => {
        if (!ended) next(rest);
      });
    });
  };
  next(Object.values(lazyViews));
  return () => {
    ended = true;
    cancel();
  };
}

/**
 * Calls once, when the browser is idle; Safari cannot report that, so there after a
 * moment.
 */
function whenIdle(call: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const handle = requestIdleCallback(call, { timeout: LONGEST_WAIT_MS });
    return () => cancelIdleCallback(handle);
  }
  const timer = setTimeout(call, LONGEST_WAIT_MS);
  return () => clearTimeout(timer);
}
