/**
 * The desktop app: Electron's main process, its preload and the renderer, each in its
 * folder of dist/desktop. `serve` gives the same renderer to a browser, so it must not
 * need anything of Electron.
 */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'electron-vite';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { LICENCE_LIST } from './scripts/third-party-notices.ts';
import { precompressed } from './scripts/precompressed.ts';
import { xtermStyles } from './scripts/xterm-styles.ts';

const root = import.meta.dirname;
const dist = process.env['GRADWIRE_DIST'] ?? path.join(root, 'dist');
const out = (part: string) => path.join(dist, 'desktop', part);

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Modules that come with these ones, without an `import()` between. */
function closureOf(entries: Iterable<string>, modules: Modules): Set<string> {
  const found = new Set(entries);
  for (const known of found) {
    for (const next of modules.getModuleInfo(known)?.importedIds ?? []) found.add(next);
  }
  return found;
}

const views = readdirSync(path.join(root, 'src/renderer/views')).map((name) =>
  path.join(root, 'src/renderer/views', name),
);
let ofFirstScreen: Set<string> | undefined;
let ofViews: Set<string> | undefined;

/**
 * The file of a module that several files of the page need: that of the first screen, that of views, or one for what
 * only comes on request, such as saving a chart. Files of earlier ones need none of later ones, so no two files
 * need each other.
 */
function sharedFileOf(id: string, modules: Modules): string {
  ofFirstScreen ??= closureOf([path.join(root, 'src/renderer/main.ts')], modules);
  if (ofFirstScreen.has(id)) return 'common';
  ofViews ??= closureOf(views, modules);
  return ofViews.has(id) ? 'views' : 'requested';
}

export default defineConfig({
  main: {
    build: {
      outDir: out('main'),
      emptyOutDir: true,
      license: { fileName: LICENCE_LIST },
      minify: false,
      sourcemap: true,
      // Pure JavaScript is bundled; native addons stay in node_modules, and so does ssh2,
      // which looks for files beside its own.
      externalizeDeps: false,
      rollupOptions: {
        input: { index: path.join(root, 'src/main/electron/index.ts') },
        external: ['@lydell/node-pty', 'better-sqlite3', 'electron', 'koffi', 'ssh2'],
        output: { format: 'es', entryFileNames: '[name].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: out('preload'),
      emptyOutDir: true,
      license: { fileName: LICENCE_LIST },
      minify: false,
      sourcemap: false,
      externalizeDeps: false,
      rollupOptions: {
        input: { index: path.join(root, 'src/preload/index.ts') },
        external: ['electron'],
        // A sandboxed preload is one CommonJS file.
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: path.join(root, 'src/renderer'),
    // Relative addresses: the same files are served over app:// and http://.
    base: './',
    plugins: [svelte({ configFile: false }), xtermStyles(root), precompressed()],
    build: {
      outDir: out('renderer'),
      emptyOutDir: true,
      license: { fileName: LICENCE_LIST },
      minify: true,
      sourcemap: false,
      // Inlined data: URLs for scripts or fonts would need a wider CSP.
      assetsInlineLimit: 0,
      // In kB, plain. What a page loads in all has a test (tests/integration/serve).
      chunkSizeWarningLimit: 500,
      // Which file needs which, for that test; no host gives it out.
      manifest: true,
      rollupOptions: {
        input: path.join(root, 'src/renderer/index.html'),
        // Compiling Svelte takes most of the build: known, and no cause for a warning.
        checks: { pluginTimings: false },
        output: {
          // Shared modules are few files, not one for each icon; charts are one of their own.
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              {
                name: 'charts',
                minShareCount: 2,
                test: /[\\/](chart\.js|@kurkle|renderer[\\/]charts)[\\/]/,
                priority: 1,
              },
              {
                name: sharedFileOf,
                minShareCount: 2,
              },
            ],
          },
        },
      },
    },
  },
});
