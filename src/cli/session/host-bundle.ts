/**
 * The hosts, loaded by their file: the CLI knows main's core but not its hosts, and a
 * command that needs none should not load one.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { failure } from '../../shared/errors/errors.ts';
import { installationRoot } from '../../main/home/installation.ts';

/** Exports of dist/cli/serve.js. */
export interface HostBundle {
  readonly serve: (options: {
    readonly port?: number;
    readonly open: boolean;
    readonly json: boolean;
  }) => Promise<void>;
  readonly start: (options: { readonly json: boolean }) => Promise<void>;
}

/** @throws GradwireError `HOST_MISSING` */
export async function loadHosts(): Promise<HostBundle> {
  const file = path.join(installationRoot(), 'dist', 'cli', 'serve.js');
  if (!existsSync(file)) {
    throw failure('HOST_MISSING', `the server is not built: no ${file}`, {
      next: 'Run npm run build.',
    });
  }
  return (await import(pathToFileURL(file).href)) as HostBundle;
}
