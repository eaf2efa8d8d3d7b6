/**
 * A part of the page that is a file of its own, so that the first screen does not wait for
 * charts, forms and lists.
 */
import { failure, type ErrorData } from '../../../shared/errors/errors.ts';

/** A page that draws all the time is never idle. */
const LONGEST_WAIT_MS = 1000;

/** A component by its file. What is read in an effect or a derived value is followed. */
export class LazyView<View> {
  readonly #import: () => Promise<{ readonly default: View }>;
  #loading: Promise<void> | undefined;
  #component = $state.raw<View>();
  #error = $state.raw<ErrorData>();

  /**
   * @param from its file, as an import() that the build sees
   * @param loaded the component, where the first screen has it anyway
   */
  constructor(from: () => Promise<{ readonly default: View }>, loaded?: View) {
    this.#import = from;
    this.#component = loaded;
  }

  get component(): View | undefined {
    return this.#component;
  }

  /** Browsers do not retry a failed import, so only a reload helps. */
  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Whether it has loaded or failed. Effects follow it. */
  get settled(): boolean {
    return this.#component !== undefined || this.#error !== undefined;
  }

  /** Loads it once. Never rejects: sets `component` or `error`. */
  load(): Promise<void> {
    if (this.#component !== undefined) return Promise.resolve();
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

/**
 * Loads views while the page has nothing else to do, one after another: a click then
 * shows its page at once. Views that do not come show it by their own `error`.
 * @returns what ends it
 */
export function loadWhenIdle(views: readonly LazyView<unknown>[]): () => void {
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
  next(views);
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
