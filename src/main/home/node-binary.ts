/**
 * The Node that runs our programs: this process's own if it is Node 24 or newer and not
 * Electron, otherwise the one that npm installed as a package for this machine.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { failure } from '../../shared/errors.ts';

const REQUIRED_MAJOR = 24;

/** @throws GradwireError `NODE_MISSING` */
export function nodeBinary(
  versions: NodeJS.ProcessVersions = process.versions,
): string {
  const major = Number(versions.node.split('.')[0]);
  if (versions['electron'] === undefined && major >= REQUIRED_MAJOR) {
    return process.execPath;
  }
  const installed = packagedNode();
  if (installed !== undefined) return installed;
  throw failure(
    'NODE_MISSING',
    `npm did not install Node ${REQUIRED_MAJOR} for ${process.platform}-${process.arch}`,
    { next: `Install Node ${REQUIRED_MAJOR} or newer and start Gradwire with it.` },
  );
}

/** npm's packages of Node, by platform; macOS's has a different name. */
const PACKAGES: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'node-bin-darwin',
  linux: 'node-linux',
  win32: 'node-win',
};

/** The binary of the package for this platform and processor, if npm installed it. */
function packagedNode(): string | undefined {
  const name = PACKAGES[process.platform] ?? process.platform;
  const require = createRequire(import.meta.url);
  let manifest: string;
  try {
    manifest = require.resolve(`${name}-${process.arch}/package.json`);
  } catch {
    return undefined; // no such package for this machine: the caller says what to do
  }
  const binary = process.platform === 'win32' ? 'node.exe' : 'node';
  const file = path
    .join(path.dirname(manifest), 'bin', binary)
    .replace(`app.asar${path.sep}`, `app.asar.unpacked${path.sep}`);
  return existsSync(file) ? file : undefined;
}
