/**
 * The software bill of materials of a release, in CycloneDX's format: `node scripts/sbom.ts`
 * writes dist/sbom.cdx.json. npm makes it from the lock file; of what is needed only to build,
 * it keeps what is in the bundles. Without a date or a random number, so that builds of the same
 * sources are equal.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const root = path.join(import.meta.dirname, '..');
const DEVELOPMENT = 'cdx:npm:package:development';

const componentSchema = z.looseObject({
  'bom-ref': z.string(),
  name: z.string(),
  version: z.string(),
  properties: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
});
const bomSchema = z.looseObject({
  serialNumber: z.string().optional(),
  metadata: z.looseObject({
    timestamp: z.string().optional(),
    component: z.looseObject({ name: z.string() }),
  }),
  components: z.array(componentSchema),
  dependencies: z.array(
    z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).default([]) }),
  ),
});

/** `name@version` of everything in the bundles, as THIRD-PARTY-NOTICES has it. */
async function bundled(): Promise<ReadonlySet<string>> {
  const text = await readFile(path.join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
  const headings = text.matchAll(/^-{80}\n\n(\S+) (\S+)/gm);
  return new Set([...headings].map(([, name, version]) => `${name}@${version}`));
}

const { stdout } = await promisify(execFile)(
  'npm',
  ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
  { cwd: root, maxBuffer: 2 ** 28, shell: process.platform === 'win32' },
);
const bom = bomSchema.parse(JSON.parse(stdout));
delete bom.serialNumber;
delete bom.metadata.timestamp;
// npm names it after the directory.
bom.metadata.component.name = 'gradwire';
const inside = await bundled();
const components = bom.components.filter(
  ({ name, properties, version }) =>
    inside.has(`${name}@${version}`) ||
    !properties.some((property) => property.name === DEVELOPMENT),
);
const kept = new Set(components.map((component) => component['bom-ref']));
const isKept = (ref: string): boolean => kept.has(ref) || ref.startsWith('gradwire@');
const dependencies = bom.dependencies
  .filter(({ ref }) => isKept(ref))
  .map((entry) => ({ ...entry, dependsOn: entry.dependsOn.filter(isKept) }));
const release = {
  ...bom,
  components,
  dependencies,
};
await writeFile(
  path.join(root, 'dist/sbom.cdx.json'),
  `${JSON.stringify(release, undefined, 2)}\n`,
);
