/** The app in a real Chromium: a home of its own, `gradwire serve` over it, and one page. */
import type { Locator, Page } from 'playwright-core';
import { launchChromium } from './browser.ts';
import { GradwireHome } from './gradwire.ts';
import { obstacles, watchErrors } from './page.ts';
import { openServer, type Server } from './server.ts';

/** Limits are there for what hangs. */
const PATIENCE_MS = 240_000;

export interface AppPageOptions {
  /** What is done in the home before the app opens. */
  readonly prepare?: (home: GradwireHome) => Promise<void>;
  /** Of `serve`; its supervisor and the ranks inherit it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A bash command before `serve`, in its place: `inUserHome`. */
  readonly shell?: string | undefined;
  /** That the browser grants the page. */
  readonly permissions?: readonly string[];
}

export class AppPage implements AsyncDisposable {
  readonly home: GradwireHome;
  readonly page: Page;
  /** Of the page and its console, since it was opened. */
  readonly errors: readonly string[];
  readonly #server: Server;
  readonly #owned: AsyncDisposable;

  private constructor(
    home: GradwireHome,
    page: Page,
    errors: readonly string[],
    owned: AsyncDisposable,
    server: Server,
  ) {
    this.home = home;
    this.page = page;
    this.errors = errors;
    this.#server = server;
    this.#owned = owned;
  }

  /** 1440 × 900, connected. */
  static async open(options: AppPageOptions = {}): Promise<AppPage> {
    const { prepare, environment, shell, permissions = [] } = options;
    await using owned = new AsyncDisposableStack();
    const home = owned.use(new GradwireHome());
    await prepare?.(home);
    const server = owned.use(
      await openServer(home, [], {
        ...(environment === undefined ? {} : { environment }),
        ...(shell === undefined ? {} : { shell }),
      }),
    );
    const browser = await launchChromium();
    owned.defer(() => browser.close());
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      permissions: [...permissions],
      // What moves for ever is drawn sixty times a second, by the processor.
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const errors = watchErrors(page);
    await page.goto(server.url);
    // The page that keeps the token goes on to this one.
    await page.getByTestId('connection-status').waitFor();
    return new AppPage(home, page, errors, owned.move(), server);
  }

  /** Does something while `serve` stands still, as on a computer that is busy with it. */
  async whileServerSleeps(act: () => Promise<void>): Promise<void> {
    process.kill(this.#server.pid, 'SIGSTOP');
    try {
      await act();
    } finally {
      process.kill(this.#server.pid, 'SIGCONT');
    }
  }

  part(testId: string): Locator {
    return this.page.getByTestId(testId);
  }

  /** Opens a view by its link in the bar at the side. */
  async go(view: string): Promise<void> {
    const link = this.page.getByRole('navigation').getByRole('link', {
      name: view,
      exact: true,
    });
    await link.click();
  }

  /** Serious obstacles of the page to people with disabilities. */
  obstacles(): Promise<readonly string[]> {
    return obstacles(this.page);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}
