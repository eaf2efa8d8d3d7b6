import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { common } from './vitest.config.ts';

/** Tests that draw or repeat, of which `npm test` runs samples: here they run in full. */
const sampled = globSync('tests/{unit,integration,gpu}/**/*.test.ts').filter((file) =>
  /harness\/effort|from 'fast-check'/.test(readFileSync(file, 'utf8')),
);

const HOURS = 3_600_000;

export default defineConfig({
  test: {
    ...common,
    include: ['tests/soak/**/*.test.ts', ...sampled],
    testTimeout: 6 * HOURS,
    env: { GRADWIRE_SOAK: '1' },
  },
});
