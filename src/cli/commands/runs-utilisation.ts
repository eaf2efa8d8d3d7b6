/** `gradwire runs utilisation`: what the machines of a run did beside the step. */
import type { Command } from 'commander';
import { machineName } from '../../shared/machines/machine-names.ts';
import {
  MACHINE_MEASURE_IDS,
  MACHINE_MEASURES,
} from '../../shared/utilisation/machine-measures.ts';
import type {
  MachineRow,
  MachineTable,
} from '../../shared/utilisation/machine-table.ts';
import {
  describeMachines,
  machineMeasureText,
  processorsText,
  type MachineNames,
} from '../../shared/utilisation/machine-text.ts';
import { formatBytes, formatPercent } from '../../shared/words/units.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withHistory } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { tableWidth } from '../text/terminal.ts';
import { textTable } from '../text/text-table.ts';
import { wholeNumber } from '../text/whole-number.ts';

interface UtilisationFlags {
  readonly from?: number;
  readonly to?: number;
  readonly json: boolean;
}

export function addRunsUtilisationCommand(runs: Command): void {
  runs
    .command('utilisation')
    .description(
      'say what the machines did meanwhile: processors, memory, network and GPUs, of each rank too',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .option('--from <iteration>', 'the first iteration; default: 0', wholeNumber)
    .option(
      '--to <iteration>',
      'the iteration after the last; default: all',
      wholeNumber,
    )
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: UtilisationFlags) => {
      await withHistory(async ({ coordinator, store }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        const { from = 0, to = Number.MAX_SAFE_INTEGER } = flags;
        const table = await store.utilisation.table(id, { from, to, columns: 0 });
        const { nodes } = store.summary(id);
        const { known, machines } = table;
        answer(
          flags.json,
          {
            run: id,
            ...known,
            machines: machines.map(({ cells: _, ...row }) => row),
          },
          `${textOf(table, (node) => machineName(node, nodes))}\n`,
        );
      });
    });
}

function textOf(table: MachineTable, nameOf: MachineNames): string {
  const { known, machines } = table;
  const sentence = describeMachines(table, nameOf);
  if (known === undefined) return sentence;
  const shown = MACHINE_MEASURE_IDS.filter((measure) =>
    machines.some(({ means }) => means[measure] !== undefined),
  );
  const heading = [
    'machine',
    'processors',
    ...shown.map((measure) => MACHINE_MEASURES[measure].short),
  ];
  const rows = machines.map(({ means, node, processors }) => [
    nameOf(node),
    processorsText(processors),
    ...shown.map((measure) => machineMeasureText(measure, means[measure])),
  ]);
  const parts = machines.flatMap((row) => partRows(row, nameOf));
  const texts = [
    `iterations ${known.from} to ${known.to - 1}: ${sentence}`,
    aligned([heading, ...rows]),
    aligned([['', 'machine', 'busy', 'memory'], ...parts]),
  ];
  return texts.join('\n\n');
}

/** Rows of a machine's ranks and GPUs. */
const partRows = (
  { gpus, node, ranks }: MachineRow,
  nameOf: MachineNames,
): readonly (readonly string[])[] => [
  ...ranks.map(({ busy, memory, rank }) => [
    `rank ${rank}`,
    nameOf(node),
    busy === undefined ? '–' : `${processorsText(busy)} processors`,
    formatBytes(memory),
  ]),
  ...gpus.map(({ bus, busy, memory, name, total }) => [
    `${name} at ${bus}`,
    nameOf(node),
    formatPercent(busy),
    total === undefined
      ? formatBytes(memory)
      : `${formatBytes(memory)} of ${formatBytes(total)}`,
  ]),
];

const aligned = (rows: readonly (readonly string[])[]): string =>
  textTable(
    rows,
    rows[0]!.map((_, index) => (index === 0 ? ('left' as const) : ('right' as const))),
    tableWidth(false),
  );
