/** `gradwire compress`: a vector's file to the payload that would travel. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseParameters } from '../../main/spec/settings.ts';
import type { BackendName } from '../../agent/engine.ts';
import { parseWord } from '../text/parse-word.ts';
import { bytes, milliseconds } from '../text/quantities.ts';
import { repeated } from '../text/repeated.ts';

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
  return new Option('--backend <name>', 'whose kernels do the work')
    .choices(['reference', 'wasm', 'webgpu'] satisfies BackendName[])
    .default('wasm');
}

export function addCompressCommand(program: Command): void {
  program
    .command('compress')
    .summary('compress a vector as a rank would')
    .description(
      'Compress a file of little-endian float32 as one rank would: the payload that ' +
        'would travel, behind a small header.',
    )
    .requiredOption('--method <id>', 'how: topk, qsgd, …')
    .addOption(
      new Option('--param <key=value>', 'a parameter of the method, as ratio=0.01')
        .argParser(repeated)
        .default([], ''),
    )
    .addOption(backendOption())
    .option('--seed <number>', 'of all random numbers; 1, or the state’s', parseWord)
    .option('--rank <number>', 'whose noise it is; 0, or the state’s', parseWord)
    .option('--iteration <number>', 'which it is; 0, or the state’s next', parseWord)
    .option('--shape <AxB…>', 'of the tensor, for methods that factor it', parseShape)
    .option('--state <file>', 'carries residual and state from call to call')
    .requiredOption('--in <file>', 'the vector')
    .requiredOption('--out <file>', 'where the payload goes')
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
    throw new InvalidArgumentError('It must be like 784x200.');
  }
  return text.split(/[x×]/).map(Number);
}
