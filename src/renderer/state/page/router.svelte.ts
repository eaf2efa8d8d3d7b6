/** The current place, kept in the address's hash so that Back and reload work. */
import { formatRoute, parseRoute, type Route } from '../places/route.ts';

export class Router {
  #route = $state.raw<Route>(parseRoute(window.location.hash));
  readonly #ended = new AbortController();

  constructor() {
    window.addEventListener(
      'hashchange',
      () => {
        this.#route = parseRoute(window.location.hash);
      },
      { signal: this.#ended.signal },
    );
  }

  get route(): Route {
    return this.#route;
  }

  go(route: Route): void {
    window.location.hash = formatRoute(route);
  }

  /** Goes to a place in place of the current one, so that Back does not lead through it. */
  replace(route: Route): void {
    window.history.replaceState(null, '', formatRoute(route));
    this.#route = route;
  }

  close(): void {
    this.#ended.abort();
  }
}
