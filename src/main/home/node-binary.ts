/**
 * The Node that runs our programs: the one that npm installed as a package for this machine,
 * because Gradwire is tested with it; otherwise this process's own, unless that is Electron.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';
import { isNodeAccepted, LOWEST_NODE } from '../../shared/machines/lowest-node.ts';

/** @throws GradwireError `NODE_MISSING` */
export function nodeBinary(
  versions: NodeJS.ProcessVersions = process.versions,
): string {
  const installed = packagedNode();
  if (installed !== undefined) return installed;
  if (versions['electron'] === undefined && isNodeAccepted(versions.node)) {
    return process.execPath;
  }
  throw failure(
    'NODE_MISSING',
    `npm did not install Node for ${process.platform}-${process.arch}`,
    { next: `Install Node ${LOWEST_NODE} or newer and start Gradwire with it.` },
  );
}

/** npm's packages of Node, by platform; macOS's has a different name. */
const PACKAGES: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'node-bin-darwin',
  linux: 'node-linux',
  win32: 'node-win',
};

/** The loader that the package for Linux needs: Alpine and NixOS have another. */
const LOADERS: Readonly<Record<string, string>> = {
  x64: '/lib64/ld-linux-x86-64.so.2',
  arm64: '/lib/ld-linux-aarch64.so.1',
};

/**
 * The binary of the package for this platform and processor, if npm installed it and the
 * system can run it.
 */
function packagedNode(): string | undefined {
  const loader = process.platform === 'linux' ? LOADERS[process.arch] : undefined;
  if (loader !== undefined && !existsSync(loader)) return undefined;
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
