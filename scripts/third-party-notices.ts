/**
 * THIRD-PARTY-NOTICES: the licences of everything that a bundle contains. Vite lists the packages
 * whose modules it put into one; what is compiled in besides is added here. A package without the
 * text of its licence fails the build.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The file in which Vite leaves its list in a bundle's folder, for `build.license`. */
export const LICENCE_LIST = 'licences.json';
const NOTICES = 'THIRD-PARTY-NOTICES';

export interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly identifier?: string | undefined;
  readonly text?: string | undefined;
}

/** Parts of build tools that are in what they make: helpers, and AssemblyScript's library. */
const COMPILED_IN = {
  rolldown: 'LICENSE',
  vite: 'LICENSE.md',
  assemblyscript: 'LICENSE',
} as const;
export type Tool = keyof typeof COMPILED_IN;

const HEAD = `Gradwire contains the following software of others, each under its own licence.
`;

/**
 * Writes the notices of a part of dist/ from the lists in it, and removes these.
 * @param folder the part's
 * @param tools build tools of which something is in the part
 * @returns what the part contains
 */
export async function writeNotices(
  root: string,
  folder: string,
  tools: readonly Tool[],
): Promise<readonly Bundled[]> {
  const lists = globSync(`**/${LICENCE_LIST}`, { cwd: folder });
  const found: Bundled[] = tools.map((tool) => toolEntry(root, tool));
  for (const list of lists) {
    const file = path.join(folder, list);
    found.push(...(JSON.parse(await readFile(file, 'utf8')) as Bundled[]));
    await rm(file);
  }
  const bundled = withoutRepeats(found);
  await writeNoticesOf(root, folder, bundled);
  return bundled;
}

/** Divides the list of a build into those of its folders, each with what is in it. */
export async function divideLicences<Folder extends string>(
  dist: string,
  folders: readonly Folder[],
  packagesIn: (folder: Folder) => ReadonlySet<string>,
): Promise<void> {
  const file = path.join(dist, LICENCE_LIST);
  const all = JSON.parse(await readFile(file, 'utf8')) as readonly Bundled[];
  await rm(file);
  for (const folder of folders) {
    const own = all.filter(({ name }) => packagesIn(folder).has(name));
    if (own.length === 0) continue;
    await writeFile(path.join(dist, folder, LICENCE_LIST), JSON.stringify(own));
  }
}

/** Writes the notices of what these are. @throws Error for one without the text of a licence */
export async function writeNoticesOf(
  root: string,
  folder: string,
  bundled: readonly Bundled[],
): Promise<void> {
  const sections = withoutRepeats(bundled).map((entry) => sectionOf(root, entry));
  await writeFile(
    path.join(folder, NOTICES),
    [HEAD, ...sections].join(`\n${RULE}\n\n`),
  );
}

const RULE = '-'.repeat(80);

function sectionOf(root: string, { identifier, name, text, version }: Bundled): string {
  if (text === undefined)
    throw new Error(`${name}@${version} has no text of its licence`);
  const heading = `${name} ${version}${identifier === undefined ? '' : ` (${identifier})`}`;
  return [heading, text.trim(), ...noticeOf(root, name)].join('\n\n') + '\n';
}

/** A package's own NOTICE, which Apache-2.0 wants kept. */
function noticeOf(root: string, name: string): readonly string[] {
  const file = path.join(root, 'node_modules', name, 'NOTICE');
  return existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [];
}

function toolEntry(root: string, tool: Tool): Bundled {
  const folder = path.join(root, 'node_modules', tool);
  const manifest = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  ) as { version: string; license: string };
  const whole = readFileSync(path.join(folder, COMPILED_IN[tool]), 'utf8');
  // Vite's file goes on with what is in Vite itself.
  const text = whole.split('# Licenses of bundled dependencies')[0]!;
  return { name: tool, version: manifest.version, identifier: manifest.license, text };
}

function withoutRepeats(entries: readonly Bundled[]): readonly Bundled[] {
  const byName = new Map(
    entries.map((entry) => [`${entry.name}@${entry.version}`, entry]),
  );
  return [...byName.values()].toSorted((a, b) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1,
  );
}
