/**
 * The lowest Node that runs Gradwire, from package.json, where bin/gradwire.js reads it too.
 * `npm test` trains, compresses and reduces with it.
 */
import manifest from '../../../package.json' with { type: 'json' };

/** `24.0.0` */
export const LOWEST_NODE: string = manifest.config.lowestNode;

/** @param version `24.1.0`, or `v24.1.0` as Node prints it; undefined without a Node */
export function isNodeAccepted(version: string | undefined): boolean {
  const given = partsOf(version ?? '');
  if (given === undefined) return false;
  const lowest = partsOf(LOWEST_NODE)!;
  const differs = given.findIndex((part, index) => part !== lowest[index]);
  return differs < 0 || given[differs]! > lowest[differs]!;
}

/** Major and minor version. */
function partsOf(version: string): readonly number[] | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}
