/** The lowest Node that Gradwire accepts, which `npm test` fetches beside the packages. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lowestNodeFile } from '../../scripts/lowest-node.ts';

/** Its file; undefined where npm could not fetch it. */
export function findLowestNode(): string | undefined {
  const file = lowestNodeFile();
  return file !== undefined && existsSync(file) ? file : undefined;
}

export const versionOf = (node: string): string =>
  execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
