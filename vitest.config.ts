import { svelte } from '@sveltejs/vite-plugin-svelte';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { jaxPlugins } from './scripts/jax-plugins.ts';

type Test = NonNullable<ViteUserConfig['test']>;

/** The tag of tests that `npm test` leaves to the soak. docs/testing.md says which those are. */
export const SOAK = 'soak';

/** What every suite has. Time limits end what hangs; no test is to run into them. */
export const common: Test = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000, interval: 20 } },
  setupFiles: ['property-runs.ts', 'equal-arrays.ts'].map((file) =>
    path.join(import.meta.dirname, 'tests/harness', file),
  ),
  tags: [{ name: SOAK, description: 'takes long: run by `npm run test:soak` alone' }],
};

/**
 * Compiled code of the processes of tests, and of those that they run from the sources: to strip
 * their types takes most of their start. `npm test` begins with an empty one.
 */
const compileCache = path.join(import.meta.dirname, 'test-results/compile-cache');

/**
 * Files run side by side, one more than there are cores, as many of them wait most of the
 * time: for processes to start, for deadlines to pass. Vitest begins with the projects of
 * long files; those of `unit`, short ones, fill what is left.
 */
export const sideBySide: Test = {
  ...common,
  maxWorkers: availableParallelism() + 1,
  env: { NODE_COMPILE_CACHE: compileCache },
};

/** What suites have of their own. Unit tests share processes: to start one takes longer than most. */
const own: Readonly<Record<string, Test>> = {
  unit: { isolate: false, server: { deps: { inline: ['@jax-js/jax'] } } },
};

/**
 * unit: one process, no sockets. integration: real processes, sockets and files, run
 * from the built bundles. e2e: the app in a real Chromium. gpu: WebGPU, on SwiftShader
 * where there is no GPU. docs/testing.md has the rules.
 */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      ...['e2e', 'gpu', 'unit'].map((name) => ({
        // Of the page, only unit tests load modules themselves.
        plugins:
          name === 'unit'
            ? [...jaxPlugins(), svelte({ configFile: false })]
            : jaxPlugins(),
        test: {
          ...sideBySide,
          name,
          include: [`tests/${name}/**/*.test.ts`],
          ...own[name],
        },
      })),
      'tests/integration/vitest.config.ts',
    ],
  },
});
