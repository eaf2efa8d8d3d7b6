/**
 * The declarations of `gradwire/engine`, so that programs are checked against it whatever
 * their own compiler settings: relative imports end in .js, and the platform's types that
 * appear in them exist even where neither the DOM's library nor @webgpu/types is loaded.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PLATFORM = `// Merged with the platform's own declarations, where there are any.
interface GPUBuffer {}
declare namespace WebAssembly {
  interface Memory {}
  interface Module {}
}
`;

/** Entries of the package, below the folder. */
const ENTRIES = ['agent/engine.d.ts', 'agent/training/models/own.d.ts'];

const IMPORT = /((?:from|import|import\()\s*['"])(\.{1,2}\/[^'"]*)\.ts(['"])/g;

/** Writes them below `folder`, from `tsconfig.engine.json` of `root`. */
export async function emitEngineTypes(root: string, folder: string): Promise<void> {
  await run(process.execPath, [
    path.join(root, 'node_modules/typescript/bin/tsc'),
    ...['-p', path.join(root, 'tsconfig.engine.json'), '--outDir', folder],
  ]);
  // The compiler writes one for every source; programs are checked against what entries name.
  const needed = new Set(ENTRIES.map((name) => path.join(folder, name)));
  for (const file of needed) {
    const text = await readFile(file, 'utf8');
    for (const [, , name] of text.matchAll(IMPORT)) {
      needed.add(path.join(path.dirname(file), `${name!}.d.ts`));
    }
    await writeFile(file, text.replace(IMPORT, '$1$2.js$3'));
  }
  for (const name of await readdir(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (file.endsWith('.d.ts') && !needed.has(file)) await rm(file);
  }
  await writeFile(path.join(folder, 'platform.d.ts'), PLATFORM);
  const entry = path.join(folder, ENTRIES[0]!);
  const reference = '/// <reference path="../platform.d.ts" />\n';
  await writeFile(entry, reference + (await readFile(entry, 'utf8')));
}
