/**
 * The library and the command are one build: the command takes from dist/engine what it shares with
 * the library. The agent, which is copied to other machines, is a build of its own: with more
 * entries its files would be more, and larger by what only others need of them.
 */
import path from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/** Helpers of the bundler itself, which no module imports by name. */
const RUNTIME = '\0rolldown/runtime.js';

/** The library says what is wrong with a Node before that has run anything else of it. */
const ENTRY = `import './node-check.js';\nexport * from './library.js';\n`;

export interface Divided {
  /** Comes last: it looks at what other plugins have made. */
  readonly plugin: Plugin;
  readonly output: Pick<Rolldown.OutputOptions, 'chunkFileNames' | 'codeSplitting'>;
}

interface LibraryAndCommand {
  readonly divided: Divided;
  /** Packages of which something is in the files of a folder of dist/. */
  readonly packagesIn: (folder: string) => ReadonlySet<string>;
}

export function libraryAndCommand(root: string): LibraryAndCommand {
  const packages = new Map<string, Set<string>>();
  /** Entries, and modules behind an `import()`, by the modules of the library that each loads. */
  let loaders: Reached = new Map();
  /** Modules that the command loads without the engine. */
  let words: Reached = new Map();
  const groups = new Map<string, string>();

  const isOfLibrary = (id: string): boolean => id === RUNTIME || loaders.has(id);

  /**
   * Modules of the engine are one file if they are loaded at the same times. What else the command
   * shares with the library is divided by what commands need: none loads the engine for a word.
   */
  function groupOf(id: string): string | null {
    const starts = loaders.get(id);
    if (starts === undefined || words.has(id)) return null;
    const key = [...starts].toSorted().join('\n');
    const name = groups.get(key) ?? `engine-${groups.size + 1}`;
    groups.set(key, name);
    return name;
  }

  function note({
    fileName,
    imports,
    dynamicImports,
    moduleIds,
  }: Rolldown.OutputChunk) {
    const folder = fileName.split('/')[0]!;
    const foreign = [...imports, ...dynamicImports].find((name) =>
      name.startsWith('cli/'),
    );
    if (folder === 'engine' && foreign !== undefined) {
      throw new Error(`${fileName} would need ${foreign}`);
    }
    const names = packages.get(folder) ?? new Set();
    packages.set(folder, names);
    for (const id of moduleIds) {
      const name = packageOf(id);
      if (name !== undefined) names.add(name);
    }
  }

  return {
    packagesIn: (folder) => packages.get(folder) ?? new Set(),
    divided: {
      output: {
        chunkFileNames: ({ facadeModuleId, moduleIds }) => {
          // One that only passes on what others have has no modules of its own.
          const ids =
            facadeModuleId === null ? moduleIds : [...moduleIds, facadeModuleId];
          const folder = ids.every(isOfLibrary) ? 'engine' : 'cli';
          return `${folder}/chunks/[name]-[hash].js`;
        },
        codeSplitting: {
          // Whatever loads a module loads what it imports, so files need each other one way.
          includeDependenciesRecursively: false,
          groups: [{ name: groupOf, debugName: 'engine' }],
        },
      },
      plugin: {
        name: 'library-and-command',
        buildEnd() {
          const of = (...files: readonly string[]): readonly string[] =>
            files.map((file) => path.join(root, 'src', file));
          const importsOf = (id: string) => this.getModuleInfo(id);
          const [engine] = of('agent/engine.ts');
          loaders = loadersOf(of('agent/engine-node.ts', 'agent/engine.ts'), importsOf);
          words = loadersOf(of('cli/main.ts', 'main/serve/main.ts'), (id) =>
            id === engine ? null : importsOf(id),
          );
        },
        generateBundle(_options, bundle) {
          for (const file of Object.values(bundle)) {
            if (file.type === 'chunk') note(file);
          }
          this.emitFile({ type: 'asset', fileName: 'engine/engine.js', source: ENTRY });
        },
      },
    },
  };
}

type Reached = ReadonlyMap<string, ReadonlySet<string>>;

interface ModuleImports {
  readonly importedIds: readonly string[];
  readonly dynamicallyImportedIds: readonly string[];
}

function loadersOf(
  entries: readonly string[],
  importsOf: (id: string) => ModuleImports | null,
): Reached {
  const loaders = new Map<string, Set<string>>();
  const starts = new Set(entries);
  for (const start of starts) {
    const loaded = new Set([start]);
    for (const id of loaded) {
      loaders.set(id, (loaders.get(id) ?? new Set()).add(start));
      const imports = importsOf(id);
      for (const next of imports?.importedIds ?? []) loaded.add(next);
      for (const next of imports?.dynamicallyImportedIds ?? []) starts.add(next);
    }
  }
  return loaders;
}

/** The package of a file under node_modules. */
const packageOf = (id: string): string | undefined =>
  /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/
    .exec(id)?.[1]
    ?.replace('\\', '/');
