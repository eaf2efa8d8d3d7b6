/**
 * The suite `integration`, in parts. Most files share processes and what these have imported, as
 * unit tests do: a third of a second of processor time for each. `--project integration` runs
 * all; `--project 'integration (alone)'` one part.
 */
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { jaxPlugins } from '../../scripts/jax-plugins.ts';
import { sideBySide } from '../../vitest.config.ts';

const folder = 'tests/integration';
const all = [`${folder}/**/*.test.ts`];

/** They change their process: variables of its environment, its registries, its clock, its modules. */
const alone = [
  'cli/compress',
  'cluster/checked-machines',
  'cluster/two-nodes',
  'engine/*',
  'extending/*',
  'gpus/*',
  'hosts/*',
  'installation/*',
  'main/npm-packages',
  'slurm/job-cancellation',
  'slurm/unsure-answers',
  'ssh/kerberos',
  'terminal/*',
].map((file) => `${folder}/${file}.test.ts`);

/** They leave no socket open in their process, and find those that others have. */
const sockets = [`${folder}/collectives/*.test.ts`];

export default defineConfig({
  root: path.join(import.meta.dirname, '../..'),
  plugins: jaxPlugins(),
  test: {
    ...sideBySide,
    name: 'integration',
    projects: [
      { test: { name: 'alone', include: alone } },
      { test: { name: 'sockets', include: sockets, isolate: false } },
      {
        test: {
          name: 'shared',
          include: all,
          exclude: [...alone, ...sockets],
          isolate: false,
        },
      },
    ],
  },
});
