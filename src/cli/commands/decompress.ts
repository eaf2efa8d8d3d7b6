/** `gradwire decompress`: a payload file to the vector that it encodes. */
import type { Command } from 'commander';
import type { BackendName } from '../../agent/engine.ts';
import { bytes, milliseconds } from '../text/quantities.ts';
import { backendOption } from './compress.ts';

interface DecompressOptions {
  readonly backend: BackendName;
  readonly in: string;
  readonly out: string;
  readonly gradient?: string;
  readonly json: boolean;
}

export function addDecompressCommand(program: Command): void {
  program
    .command('decompress')
    .summary('decode a compressed vector')
    .description(
      'Decode a file written by compress to little-endian float32: the contribution of ' +
        'the rank that compressed it.',
    )
    .addOption(backendOption())
    .requiredOption('--in <file>', 'the payload')
    .requiredOption('--out <file>', 'output file for the vector')
    .option(
      '--gradient <file>',
      'the original vector, for methods that keep part of it on the rank',
    )
    .option('--json', 'print one line of JSON', false)
    .action(async ({ json, ...task }: DecompressOptions) => {
      // Loaded here: no other command needs the engine.
      const { decompressFile } = await import('../files/decompress-file.ts');
      const report = await decompressFile(task);
      const { method, n, payloadBytes, ms } = report;
      process.stdout.write(
        json
          ? `${JSON.stringify(report)}\n`
          : `${method}: ${n} elements from a payload of ${bytes(payloadBytes)}, ` +
              `in ${milliseconds(ms)}\n`,
      );
    });
}
