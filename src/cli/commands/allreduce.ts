/** `gradwire allreduce`: one vector per rank, reduced by real processes. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ReduceOperation } from '../../agent/engine.ts';
import { inputError } from '../../shared/errors.ts';
import { bytes, milliseconds } from '../quantities.ts';
import { textTable } from '../text-table.ts';

interface AllreduceOptions {
  readonly ranks: number;
  readonly algorithm: string;
  readonly op: ReduceOperation;
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
    .summary('reduce one vector per rank, by real processes')
    .description(
      'Reduce one file of little-endian float32 per rank to the same result on every ' +
        'rank. Exact zeros are absent entries; {rank} in a path is the rank’s number.',
    )
    .requiredOption('--ranks <count>', 'processes', parseRanks)
    .option('--algorithm <id>', 'a collective: ring, ssar-split-allgather, …', 'auto')
    .addOption(
      new Option('--op <name>', 'how entries combine')
        .choices(['sum', 'min', 'max', 'prod'] satisfies ReduceOperation[])
        .default('sum'),
    )
    .addOption(
      new Option('--transport <name>', 'what carries the messages')
        .choices(['tcp'])
        .default('tcp'),
    )
    .requiredOption('--in <pattern>', "the vectors, as 'in{rank}.f32'")
    .requiredOption('--out <pattern>', "where the results go, as 'out{rank}.f32'")
    .option('--json', 'print one line of JSON', false)
    .action(allreduce);
}

async function allreduce(options: AllreduceOptions): Promise<void> {
  const { ranks, algorithm, op } = options;
  if (ranks > 1 && !options.out.includes(RANK)) {
    throw inputError('PATTERN_INVALID', `--out is one file for ${ranks} ranks`, {
      place: options.out,
      next: "Write {rank} where the rank's number belongs, as 'out{rank}.f32'.",
    });
  }
  const files = (pattern: string): string[] =>
    Array.from({ length: ranks }, (_, rank) => pattern.replaceAll(RANK, String(rank)));
  // Loaded here: no other command needs the engine.
  const { allreduceFiles } = await import('../../agent/engine.ts');
  const report = await allreduceFiles({
    ranks,
    algorithm,
    operation: op,
    inputs: files(options.in),
    outputs: files(options.out),
  });
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
    `${report.algorithm}, ${op} over ${ranks} rank${ranks === 1 ? '' : 's'}: ` +
      `${n} elements, ${nnzReduced} of the result not 0` +
      `${switchedToDense ? ', sent sparse and reduced to dense' : ''}, ` +
      `in ${milliseconds(ms)}\n${table}\n`,
  );
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (!/^\d+$/.test(text) || ranks < 1 || ranks > MAXIMUM_RANKS) {
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAXIMUM_RANKS}.`);
  }
  return ranks;
}
