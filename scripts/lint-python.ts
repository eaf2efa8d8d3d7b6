/** The Python part of `npm run lint`; with `--write`, that of `npm run format`. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ensurePython, pythonFile } from './python-environment.ts';

const root = path.join(import.meta.dirname, '..');
const packageFolder = path.join(root, 'python/gradwire');
const cache = path.join(root, '.venv/cache');
/** Paths that ruff checks; its settings are the package's. */
const checked = [
  packageFolder,
  path.join(root, 'examples/pytorch'),
  path.join(root, 'tests/integration/payloads'),
  path.join(root, 'tests/integration/pytorch'),
  path.join(root, 'tests/integration/reproduce'),
];
const settings = ['--config', path.join(packageFolder, 'pyproject.toml')];

function python(module: string, args: readonly string[]): boolean {
  const run = ['-m', module, ...args];
  const options = { cwd: packageFolder, stdio: 'inherit' } as const;
  return spawnSync(pythonFile, run, options).status === 0;
}

function ruff(command: readonly string[]): boolean {
  const cached = ['--quiet', '--cache-dir', path.join(cache, 'ruff')];
  return python('ruff', [...command, ...settings, ...cached, ...checked]);
}

try {
  if (!ensurePython('lint', 'Python is not checked')) process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const checks = process.argv.includes('--write')
  ? [ruff(['check', '--fix']), ruff(['format'])]
  : [
      ruff(['check']),
      ruff(['format', '--diff']),
      python('mypy', ['--no-error-summary', '--cache-dir', path.join(cache, 'mypy')]),
    ];
process.exit(checks.every(Boolean) ? 0 : 1);
