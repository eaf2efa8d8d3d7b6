/**
 * `npm test`: fetches what the tests need, builds, runs every project and ends with the
 * totals alone on the last line: `N passed, N failed`. Arguments go to vitest.
 *
 * `npm run test:soak` (`--soak`) runs at length what that samples or leaves out, and a thousand
 * kills: GRADWIRE_SOAK_KILLS gives another number, GRADWIRE_SOAK_SEED the seed, which is printed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { SOAK } from '../vitest.config.ts';
import { fetchLowestNode } from './lowest-node.ts';
import { assertChromiumStarts, ensurePrerequisites } from './prerequisites.ts';
import { ensurePython } from './python-environment.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly tags: readonly string[];
    }[];
  }[];
}

const root = path.join(import.meta.dirname, '..');
const results = path.join(root, 'test-results');
const reportFile = path.join(results, 'report.json');

function node(args: readonly string[]): number {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

const given = process.argv.slice(2);
const soaks = given[0] === '--soak';

try {
  ensurePrerequisites();
  fetchLowestNode();
  assertChromiumStarts();
  if (ensurePython('tests', 'tests with PyTorch are skipped')) {
    ensurePython('frameworks', 'tests with Lightning and Hugging Face are skipped');
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

if (node(['scripts/build.ts', '--quiet']) !== 0) process.exit(1);

if (soaks) {
  process.env['GRADWIRE_SOAK_SEED'] ??= String(Date.now() % 2 ** 31);
  console.log(
    `the soak's seed: GRADWIRE_SOAK_SEED=${process.env['GRADWIRE_SOAK_SEED']}`,
  );
}
rmSync(reportFile, { force: true });
rmSync(path.join(results, 'compile-cache'), { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const status = node([
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${reportFile}`,
  ...(soaks
    ? ['--config', 'vitest.soak.config.ts', ...given.slice(1)]
    : [`--tags-filter=!${SOAK}`, ...given]),
]);
if (!existsSync(reportFile)) {
  console.error('Vitest has left no report: it was interrupted, or did not start.');
  process.exit(1);
}
const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
const skipped = report.testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .filter(
    ({ status, tags }) => status === 'skipped' && (soaks || !tags.includes(SOAK)),
  );
console.log(
  `${report.numPassedTests} passed, ${report.numFailedTests} failed` +
    (skipped.length > 0 ? `, ${skipped.length} skipped` : ''),
);
// A file that fails to load fails the run without failing a test.
process.exit(status !== 0 || report.numFailedTests > 0 || !report.success ? 1 : 0);
