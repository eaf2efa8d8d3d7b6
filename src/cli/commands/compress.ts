/** `gradwire compress`: a vector file to the payload that a rank would send. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseParameters } from '../../main/spec/settings.ts';
import type { BackendName } from '../../agent/engine.ts';
import { parseWord } from '../text/parse-word.ts';
import { bytes, milliseconds } from '../text/quantities.ts';
import { RepeatableOption } from '../text/option-repetition.ts';

interface CompressOptions {
  readonly method: string;
  readonly param: readonly string[];
  readonly backend: BackendName;
  readonly seed?: number;
  readonly rank?: number;
  readonly iteration?: number;
  readonly shape?: readonly number[];
  readonly state?: string;
  readonly in: string;
  readonly out: string;
  readonly json: boolean;
}

export function backendOption(): Option {
  return new Option('--backend <name>', 'the backend whose kernels to use')
    .choices(['reference', 'wasm', 'webgpu'] satisfies BackendName[])
    .default('wasm');
}

export function addCompressCommand(program: Command): void {
  program
    .command('compress')
    .summary('compress a vector as a rank would')
    .description(
      'Compress a file of little-endian float32 as one rank would. The output is a small ' +
        'header and the payload that the rank would send.',
    )
    .requiredOption('--method <id>', 'how: topk, qsgd, …')
    .addOption(
      new RepeatableOption(
        '--param <key=value>',
        'a parameter of the method, such as ratio=0.01; repeatable',
      ).default([], ''),
    )
    .addOption(backendOption())
    .option(
      '--seed <number>',
      'seed of all random numbers; default: the state’s, or 1',
      parseWord,
    )
    .option(
      '--rank <number>',
      'rank whose random noise is used; default: the state’s, or 0',
      parseWord,
    )
    .option(
      '--iteration <number>',
      'iteration number; default: the state’s next, or 0',
      parseWord,
    )
    .option(
      '--shape <AxB…>',
      'shape of the tensor, for powersgd, and for onebit with granularity=column',
      parseShape,
    )
    .option('--state <file>', 'keeps the residual and state between calls')
    .requiredOption('--in <file>', 'the vector')
    .requiredOption('--out <file>', 'output file for the payload')
    .option('--json', 'print one line of JSON', false)
    .action(compress);
}

async function compress(options: CompressOptions): Promise<void> {
  const { param, json, ...rest } = options;
  const parameters = parseParameters(param, '--param');
  // Loaded here: no other command needs the engine.
  const { compressFile } = await import('../files/compress-file.ts');
  const report = await compressFile({ ...rest, parameters });
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const { method, n, payloadBytes, nnz, ms } = report;
  const entries = nnz === undefined ? '' : `, ${nnz} entries`;
  process.stdout.write(
    `${method}: ${n} elements, ${bytes(4 * n)} to a payload of ${bytes(payloadBytes)}` +
      `${entries}, in ${milliseconds(ms)}\n`,
  );
}

function parseShape(text: string): readonly number[] {
  if (!/^\d{1,9}([x×]\d{1,9}){0,7}$/.test(text)) {
    throw new InvalidArgumentError('It must look like 784x200.');
  }
  return text.split(/[x×]/).map(Number);
}
