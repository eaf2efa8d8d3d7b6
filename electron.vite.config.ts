/**
 * The desktop app: Electron's main process, its preload and the renderer, each in its
 * folder of dist/desktop. `serve` gives the same renderer to a browser, so it must not
 * need anything of Electron.
 */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'electron-vite';
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

let loadedAtOnce: Set<string> | undefined;

/**
 * Whether a module of the page comes with its entry, without an `import()` between. Files of these
 * modules need no others, so no two files need each other.
 */
function isOfFirstScreen(id: string, modules: Modules): boolean {
  if (loadedAtOnce === undefined) {
    loadedAtOnce = new Set([path.join(root, 'src/renderer/main.ts')]);
    for (const known of loadedAtOnce) {
      for (const next of modules.getModuleInfo(known)?.importedIds ?? []) {
        loadedAtOnce.add(next);
      }
    }
  }
  return loadedAtOnce.has(id);
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
          // What the first screen shares with views is one file, not one for each icon; what
          // only views share another one, and charts a third.
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
                name: (id, modules) =>
                  isOfFirstScreen(id, modules) ? 'common' : 'views',
                minShareCount: 2,
              },
            ],
          },
        },
      },
    },
  },
});
