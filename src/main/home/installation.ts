/**
 * The paths of this installation. Its root is the nearest parent directory with
 * Gradwire's package.json, for the sources, a bundle under dist/ and a packed desktop
 * app.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';

let known: { readonly root: string; readonly version: string } | undefined;

function installation(): { readonly root: string; readonly version: string } {
  if (known !== undefined) return known;
  let directory = import.meta.dirname;
  for (;;) {
    const manifest = path.join(directory, 'package.json');
    if (existsSync(manifest)) {
      const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (name === 'gradwire') {
        known = { root: directory, version: version ?? 'unknown' };
        return known;
      }
    }
    const parent = path.dirname(directory);
    if (parent === directory) {
      throw new Error(`internal: no gradwire package above ${import.meta.dirname}`);
    }
    directory = parent;
  }
}

/** The installation's own directory. */
export function installationRoot(): string {
  return installation().root;
}

/** Gradwire's version, from its package.json. */
export function appVersion(): string {
  return installation().version;
}

/**
 * A built file of the headless agent, by its name under dist/agent. Other processes run
 * it, so in a packed desktop app this is the copy outside the archive.
 * @throws GradwireError `AGENT_MISSING`
 */
export const agentBundle = (name: string): string => built('agent', name, 'the agent');

/** The built command, for processes that run it. @throws GradwireError `AGENT_MISSING` */
export const commandBundle = (): string => built('cli', 'cli.js', 'the command');

function built(part: string, name: string, what: string): string {
  const packed = `app.asar${path.sep}`;
  const file = path
    .join(installationRoot(), 'dist', part, name)
    .replace(packed, `app.asar.unpacked${path.sep}`);
  if (!existsSync(file)) {
    throw failure('AGENT_MISSING', `${what} is not built: no ${file}`, {
      next: 'Run npm run build.',
    });
  }
  return file;
}
