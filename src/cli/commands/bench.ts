/**
 * `gradwire bench app`: the benchmarks of bench/, run from their sources. They measure
 * real processes of this installation and are no part of an installed package.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Argument, type Command } from 'commander';
import { installationRoot } from '../../main/installation.ts';
import { failure } from '../../shared/errors.ts';

export function addBenchCommand(program: Command): void {
  program
    .command('bench')
    .description('measure this installation on this machine')
    .addArgument(new Argument('<what>', 'what to measure').choices(['app']))
    .option('--json', 'one JSON object per line')
    .action(async (what: string, { json = false }: { readonly json?: boolean }) => {
      const file = path.join(installationRoot(), 'bench', `${what}.ts`);
      if (!existsSync(file)) {
        throw failure('BENCH_MISSING', `there is no ${file}`, {
          next: 'Benchmarks run in a checkout of the sources.',
        });
      }
      const child = spawn(process.execPath, [file, ...(json ? ['--json'] : [])], {
        stdio: 'inherit',
      });
      const code = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject).on('close', resolve);
      });
      process.exitCode = code ?? 1;
    });
}
