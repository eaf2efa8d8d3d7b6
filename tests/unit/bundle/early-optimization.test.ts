import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const source = import.meta.resolve('../../../src/agent/bundle/early-optimization.ts');

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-early-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function script(name: string, lines: readonly string[]): string {
  const file = path.join(directory, name);
  writeFileSync(file, lines.join('\n'));
  return file;
}

/** Calls of a function until V8 has optimised it, compiling on the same thread. */
function callsUntilOptimised(begin: string): number {
  const file = script('calls.mjs', [
    `import { optimizeEarly } from '${source}';`,
    begin,
    'function squares(values) {',
    '  let sum = 0;',
    '  for (const value of values) sum += value * value;',
    '  return sum;',
    '}',
    'let calls = 0;',
    'while (calls < 5000 && (%GetOptimizationStatus(squares) & 16) === 0) {',
    '  squares([1, 2, 3]);',
    '  calls++;',
    '}',
    'console.log(calls);',
  ]);
  const options = ['--allow-natives-syntax', '--single-threaded'];
  return Number(
    execFileSync(process.execPath, [...options, file], { encoding: 'utf8' }),
  );
}

it('has V8 optimise a function after fewer calls', () => {
  const before = callsUntilOptimised('');
  const after = callsUntilOptimised('optimizeEarly();');
  expect(before).toBeLessThan(5000);
  expect(after).toBeLessThan(before / 2);
});

it('uses options that this V8 has', () => {
  const file = script('options.mjs', [
    `import { optimizeEarly } from '${source}';`,
    'optimizeEarly();',
  ]);
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('leaves the code valid that Node cached before', () => {
  script('loaded.mjs', ['export const answer = (x) => x + 1;']);
  const file = script('cached.mjs', [
    "import { enableCompileCache } from 'node:module';",
    `import { optimizeEarly } from '${source}';`,
    `enableCompileCache('${path.join(directory, 'cache')}');`,
    "const { answer } = await import('./loaded.mjs');",
    'answer(1);',
    'optimizeEarly();',
  ]);
  const run = (): string =>
    spawnSync(process.execPath, [file], {
      encoding: 'utf8',
      env: { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    }).stderr;
  const loaded = pathToFileURL(path.join(directory, 'loaded.mjs')).href;
  const about = (log: string): string =>
    log
      .split('\n')
      .filter((line) => line.includes(loaded))
      .join('\n');
  expect(about(run())).toContain('success');
  expect(about(run())).toContain('was accepted');
});
