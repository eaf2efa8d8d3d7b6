/** `gradwire allreduce`: one vector per rank, reduced by real processes. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type {
  AllreduceReport,
  ReduceOperation,
  ValueType,
} from '../../agent/engine.ts';
import {
  describeEmulated,
  emulatedNetwork,
  linkSpecSchema,
  type EmulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { shownValue } from '../../shared/words/printable.ts';
import { deltaText } from '../../shared/plan/delta-setting.ts';
import { serversText } from '../../shared/plan/exchange-plan.ts';
import { explainIssue } from '../../shared/spec/experiment-spec.ts';
import {
  quantizationSchema,
  type Quantization,
} from '../../shared/plan/quantization.ts';
import { assertAllApart, ownFiles } from '../files/vector-file.ts';
import { parseWord } from '../text/parse-word.ts';
import { bytes, milliseconds } from '../text/quantities.ts';
import { textTable } from '../text/text-table.ts';

interface AllreduceOptions {
  readonly ranks: number;
  readonly algorithm: string;
  readonly op: ReduceOperation;
  readonly dtype?: ValueType;
  readonly quantize?: Quantization;
  readonly servers?: number;
  readonly delta?: number | 'auto';
  readonly seed?: number;
  readonly transport: 'auto' | 'tcp' | 'native';
  readonly encrypt: boolean;
  readonly emulate?: EmulatedNetwork;
  readonly places?: readonly number[];
  readonly in: string;
  readonly out: string;
  readonly json: boolean;
}

const RANK = '{rank}';
/** Each is a process of this machine. */
const MAXIMUM_RANKS = 256;

export function addAllreduceCommand(program: Command): void {
  program
    .command('allreduce')
    .summary('reduce one vector per rank, with real processes')
    .description(
      'Reduce one file of little-endian floats per rank to the same result on every ' +
        'rank. Exact zeros are absent entries; {rank} in a path is the rank’s number.',
    )
    .requiredOption('--ranks <count>', 'processes', parseRanks)
    .option('--algorithm <id>', 'a collective: ring, ssar-split-allgather, …', 'auto')
    .addOption(
      new Option('--op <name>', 'the operation that combines entries')
        .choices(['sum', 'min', 'max', 'prod'] satisfies ReduceOperation[])
        .default('sum'),
    )
    .addOption(
      new Option(
        '--dtype <name>',
        'type of the values; default: f64 for .f64 files, else f32',
      ).choices(['f32', 'f64'] satisfies ValueType[]),
    )
    .option(
      '--quantize <settings>',
      'quantise the sums: bits=4,bucket=1024 or format=bf16',
      parseQuantization,
    )
    .option(
      '--servers <count>',
      'number of ranks that are also servers, for parameter-server; default: 1',
      parseWord,
    )
    .option(
      '--delta <share>',
      'share of the elements at which a sparse stream turns dense, or auto: the cheapest on this network; default: where both forms take as many bytes',
      parseDelta,
    )
    .option('--seed <number>', 'seed of random rounding; default: 1', parseWord)
    .addOption(
      new Option('--transport <name>', 'transport between ranks')
        .choices(['auto', 'tcp', 'native'])
        .default('auto'),
    )
    .option('--encrypt', 'encrypt the messages (AES-256-GCM)', false)
    .option(
      '--emulate <network>',
      'emulate a network between the ranks: bandwidth=1Gbit/s,latency=50us',
      parseNetwork,
    )
    .option(
      '--places <numbers>',
      'the machine of each rank, such as 0,0,1,1; default: one machine',
      parsePlaces,
    )
    .requiredOption('--in <pattern>', "input files, such as 'in{rank}.f32'")
    .requiredOption('--out <pattern>', "output files, such as 'out{rank}.f32'")
    .option('--json', 'print one line of JSON', false)
    .action(allreduce);
}

async function allreduce(options: AllreduceOptions): Promise<void> {
  const { ranks, algorithm, op, quantize, seed } = options;
  const dtype = options.dtype ?? (options.in.endsWith('.f64') ? 'f64' : 'f32');
  if (ranks > 1 && !options.out.includes(RANK)) {
    throw inputError('PATTERN_INVALID', `--out is one file for ${ranks} ranks`, {
      place: options.out,
      next: "Put {rank} in place of the rank's number, as in 'out{rank}.f32'.",
    });
  }
  const files = (pattern: string): string[] =>
    Array.from({ length: ranks }, (_, rank) => pattern.replaceAll(RANK, String(rank)));
  const inputs = files(options.in);
  const outputs = files(options.out);
  await assertAllApart(outputs, [...inputs, ...ownFiles()]);
  // Loaded here: no other command needs the engine.
  const { allreduceFiles } = await import('../../agent/engine.ts');
  const report = await allreduceFiles({
    ranks,
    algorithm,
    operation: op,
    transport: options.transport,
    encrypt: options.encrypt,
    network: options.emulate,
    places: options.places,
    values: dtype,
    quantization: quantize,
    servers: options.servers,
    delta: options.delta,
    seed,
    inputs,
    outputs,
  });
  for (const found of report.notFinite ?? []) {
    process.stderr.write(`gradwire: ${notFiniteText(found)}\n`);
  }
  if (options.json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const { n, ms, nnzReduced, switchedToDense, wireSent, wireReceived } = report;
  const rows = wireSent.map((sent, rank) => [
    String(rank),
    bytes(sent),
    bytes(wireReceived[rank]!),
  ]);
  const table = textTable(
    [['rank', 'sent', 'received'], ...rows],
    ['right', 'right', 'right'],
  );
  process.stdout.write(
    `${report.algorithm}${describeServers(report)}${describeDelta(report)}, ${op} over ${ranks} rank${ranks === 1 ? '' : 's'}: ` +
      `${n} elements, ${nnzReduced} non-zero in the result` +
      `${switchedToDense ? ', sent sparse and received dense' : ''}, ` +
      `in ${milliseconds(ms)} over ${report.transport}${describeLinks(report)}\n${table}\n`,
  );
}

/**
 * `bits=4,bucket=1024` or `format=e4m3`; keys that are not named have their defaults.
 * @throws GradwireError `QUANTIZE_INVALID`, `QUANTIZE_UNKNOWN_KEY`
 */
function parseQuantization(text: string): Quantization {
  const raw = readSettings(text);
  const parsed = quantizationSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw explainIssue(quantizationSchema, raw, parsed.error, {
    code: 'QUANTIZE',
    place: '--quantize',
  });
}

/**
 * `bandwidth=1Gbit/s,latency=50us`.
 * @throws GradwireError `EMULATE_INVALID`, `EMULATE_UNKNOWN_KEY`
 */
function parseNetwork(text: string): EmulatedNetwork {
  const raw = readSettings(text);
  const parsed = linkSpecSchema.safeParse(raw);
  if (parsed.success) return emulatedNetwork(parsed.data);
  throw explainIssue(linkSpecSchema, raw, parsed.error, {
    code: 'EMULATE',
    place: '--emulate',
  });
}

/** A number, or `auto`; the range is checked where the type of the values is known. */
function parseDelta(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const delta = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(delta)) return delta;
  throw new InvalidArgumentError('It must be a number such as 0.2, or auto.');
}

/** `0,0,1,1`; values that are not numbers are refused where the ranks are known. */
const parsePlaces = (text: string): readonly number[] =>
  text.split(',').map((place) => (/^\d+$/.test(place) ? Number(place) : NaN));

/** `key=value,key=value`, whole numbers as numbers. */
function readSettings(text: string): Record<string, string | number> {
  const settings = text.split(',').map((setting): [string, string | number] => {
    const [, key = setting, value = ''] = /^([^=]*)=(.*)$/.exec(setting) ?? [];
    return [key, /^\d+$/.test(value) ? Number(value) : value];
  });
  const keys = settings.map(([key]) => key);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) {
    throw new InvalidArgumentError(`${shownValue(twice)} is given twice.`);
  }
  return Object.fromEntries(settings);
}

type NotFiniteFile = NonNullable<AllreduceReport['notFinite']>[number];

/** A warning, no error: a program may use them. */
const notFiniteText = ({ file, count, index, value }: NotFiniteFile): string =>
  `VECTOR_NOT_FINITE: ${count} ${count === 1 ? 'element is' : 'elements are'} not finite, ` +
  `${count === 1 ? '' : 'first '}element ${index} (${value}) (${file}). ` +
  'They are reduced like any other values.';

const describeServers = ({ servers }: AllreduceReport): string =>
  servers === undefined ? '' : ` with ${serversText(servers)}`;

const describeDelta = ({ delta }: AllreduceReport): string =>
  delta === undefined ? '' : `, ${deltaText(delta)}`;

function describeLinks({ encrypted, emulated }: AllreduceReport): string {
  const network = emulated === undefined ? '' : `, ${describeEmulated(emulated)}`;
  return `${encrypted ? ', encrypted' : ''}${network}`;
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (!/^\d+$/.test(text) || ranks < 1 || ranks > MAXIMUM_RANKS) {
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAXIMUM_RANKS}.`);
  }
  return ranks;
}
