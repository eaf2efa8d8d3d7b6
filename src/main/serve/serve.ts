/**
 * `gradwire serve`: the app in an ordinary browser. Runs until SIGINT, SIGTERM or SIGHUP;
 * runs of experiments continue without it.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  failure,
  formatError,
  inputError,
  toErrorData,
} from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import { createAppCore } from '../app/app-core.ts';
import { catchFaults } from '../home/fault-log.ts';
import { resolveHome } from '../home/home.ts';
import { installationRoot } from '../home/installation.ts';
import type { ServedCore } from '../rpc/session.ts';
import { makeToken } from './access.ts';
import { openBrowser } from './browser.ts';
import { startHttpHost } from './http-host.ts';
import { keptToken } from './kept-token.ts';

export interface ServeOptions {
  /** Left out or 0: any free port. */
  readonly port?: number | undefined;
  /** Whether to open the browser. */
  readonly open: boolean;
  /** Whether the line on stdout is JSON. */
  readonly json?: boolean | undefined;
}

/**
 * Prints one line on stdout, the URL with its access token; as JSON `{ url, origin, token }`.
 * Resolves after a clean end.
 * @throws GradwireError `PORT_INVALID`, `PORT_IN_USE`, `PORT_REFUSED`,
 * `APP_ALREADY_RUNNING`, `RENDERER_MISSING` and what the core throws
 */
export async function serve({
  port = 0,
  open,
  json = false,
}: ServeOptions): Promise<void> {
  checkPort(port);
  process.umask(0o077);
  const renderer = rendererDirectory();
  await using resources = new AsyncDisposableStack();
  const stopped = resources.use(stopSignal()).received;

  const home = resolveHome();
  const core = resources.adopt(
    await createAppCore({ home, host: 'browser' }),
    async (opened) => await opened.close(),
  );
  resources.use(
    catchFaults(home, (error) => {
      core.report(error);
      process.stderr.write(`gradwire: ${formatError(toErrorData(error))}\n`);
    }),
  );
  const token = port === 0 ? makeToken() : await keptToken(home.directory);
  const host = resources.adopt(
    await startHttpHost({ core, renderer, port, token }),
    async (started) => await started.close(),
  );
  core.announce(host.origin);
  const { origin, url } = host;
  process.stdout.write(`${json ? JSON.stringify({ url, origin, token }) : url}\n`);
  if (open) resources.use(await openBrowser(host.url, home.directory));

  await stopped;
  await sayWhatGoesOn(core);
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw inputError('PORT_INVALID', `${port} is not a port`, {
    place: '--port',
    next: 'Give a number from 1 to 65535, or omit --port to get a free one.',
  });
}

/** The built renderer. @throws GradwireError `RENDERER_MISSING` */
function rendererDirectory(): string {
  const directory = path.join(installationRoot(), 'dist', 'desktop', 'renderer');
  if (existsSync(path.join(directory, 'index.html'))) return directory;
  throw failure('RENDERER_MISSING', `the dashboard is not built: no ${directory}`, {
    next: 'Run npm run build.',
  });
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal ends the server cleanly; a second one has its usual force. */
function stopSignal(): Disposable & { readonly received: Promise<NodeJS.Signals> } {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const release = (): void => {
    for (const signal of STOP_SIGNALS) process.off(signal, receive);
  };
  const receive = (signal: NodeJS.Signals): void => {
    release();
    resolve(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, receive);
  return { received: promise, [Symbol.dispose]: release };
}

async function sayWhatGoesOn(core: ServedCore): Promise<void> {
  const runs = await core.api.runs({ limit: 1000 });
  const live = runs.filter(({ state }) => !hasEnded(state));
  if (live.length === 0) return;
  const which =
    live.length === 1
      ? `run "${live[0]!.name}" continues`
      : `${live.length} runs continue`;
  process.stderr.write(
    `gradwire: ${which} in the background; list runs with "gradwire runs list".\n`,
  );
}
