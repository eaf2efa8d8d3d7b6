import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { common } from './vitest.config.ts';

/**
 * Files of which `npm test` runs a part: they draw or repeat, and are sampled there, or have
 * tests that are left to the soak. Here they run in full.
 */
const partial = globSync('tests/{unit,integration,e2e,gpu}/**/*.test.ts').filter(
  (file) =>
    /harness\/effort|adversarial-inputs|from 'fast-check'|tags: 'soak'/.test(
      readFileSync(file, 'utf8'),
    ),
);

const HOURS = 3_600_000;

export default defineConfig({
  test: {
    ...common,
    include: ['tests/soak/**/*.test.ts', ...partial],
    testTimeout: 6 * HOURS,
    env: { GRADWIRE_SOAK: '1' },
  },
});
