/**
 * The declarations of `gradwire/engine`, so that programs are checked against it whatever
 * their own compiler settings: relative imports end in .js, and the platform's types that
 * appear in them exist even where neither the DOM's library nor @webgpu/types is loaded.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
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

/** Writes them below `folder`, from `tsconfig.engine.json` of `root`. */
export async function emitEngineTypes(root: string, folder: string): Promise<void> {
  await run(process.execPath, [
    path.join(root, 'node_modules/typescript/bin/tsc'),
    ...['-p', path.join(root, 'tsconfig.engine.json'), '--outDir', folder],
  ]);
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = path.join(folder, name);
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text.replace(/((?:from|import\()\s*['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2'),
    );
  }
  await writeFile(path.join(folder, 'platform.d.ts'), PLATFORM);
  const entry = path.join(folder, 'agent/engine.d.ts');
  const reference = '/// <reference path="../platform.d.ts" />\n';
  await writeFile(entry, reference + (await readFile(entry, 'utf8')));
}
