/**
 * Prints measurements of the GPU kit, as a section of docs/benchmarks.md on stdout.
 *
 *   node scripts/gpu-report.ts DIR        # the folder that run.sh wrote
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { reportOf } from './gpu-kit/report.ts';
import type { StepResult } from './gpu-kit/results.ts';

const [, , folder] = process.argv;
if (folder === undefined || !existsSync(path.join(folder, 'device.json'))) {
  process.stderr.write(
    `gpu-report: no device.json in ${folder ?? 'no folder'}\n` +
      '  Give the folder that gpu-kit/run.sh wrote: node scripts/gpu-report.ts DIR\n',
  );
  process.exit(2);
}
const steps = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    return JSON.parse(text) as StepResult<unknown>;
  });
console.log(reportOf(steps));
