/**
 * Where the parts of this installation lie: its root is the nearest directory upwards
 * that holds Gradwire's package.json, whether this runs from the sources, from a bundle
 * under dist/ or from a packed desktop app.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { failure } from '../../shared/errors.ts';

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

/** Gradwire's version, as its package.json has it. */
export function appVersion(): string {
  return installation().version;
}

/**
 * A built file of the headless agent, by its name under dist/agent. Other processes run
 * it, so in a packed desktop app it is the copy that was left outside the archive.
 * @throws GradwireError `AGENT_MISSING`
 */
export function agentBundle(name: string): string {
  const packed = `app.asar${path.sep}`;
  const file = path
    .join(installationRoot(), 'dist', 'agent', name)
    .replace(packed, `app.asar.unpacked${path.sep}`);
  if (!existsSync(file)) {
    throw failure('AGENT_MISSING', `the agent is not built: no ${file}`, {
      next: 'Run npm run build.',
    });
  }
  return file;
}
