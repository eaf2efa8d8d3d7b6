/**
 * Fetches the lowest Node that Gradwire accepts, for tests, into test-results/: no dependency,
 * because nobody else needs it, and it has 120 MB.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { LOWEST_NODE } from '../src/shared/machines/lowest-node.ts';

const PACKAGES: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'node-bin-darwin',
  linux: 'node-linux',
};
const name = PACKAGES[process.platform];
const folder = path.join(import.meta.dirname, `../test-results/node-${LOWEST_NODE}`);

/** The file, there or to be fetched; undefined on a platform without such a package. */
export function lowestNodeFile(): string | undefined {
  if (name === undefined) return undefined;
  return path.join(folder, `node_modules/${name}-${process.arch}/bin/node`);
}

/** Fetches the package. The tests with it are skipped where there is no registry. */
export function fetchLowestNode(): void {
  const file = lowestNodeFile();
  if (file === undefined || existsSync(file)) return;
  console.log(
    `fetching Node ${LOWEST_NODE}, the lowest that Gradwire accepts, with npm`,
  );
  const wanted = `${name}-${process.arch}@${LOWEST_NODE}`;
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit'];
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', folder, ...options, '--no-fund', '--silent', wanted],
    { stdio: 'inherit', timeout: 300_000, shell: process.platform === 'win32' },
  );
  if (status !== 0) console.log(`npm could not fetch ${wanted}: its tests are skipped`);
}
