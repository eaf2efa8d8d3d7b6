/** The table of machines as numbers to save, each with its ranks and GPUs below it. */
import {
  MACHINE_MEASURE_IDS,
  MACHINE_MEASURES,
  type MachineMeasure,
} from '../../../shared/utilisation/machine-measures.ts';
import type { MachineRow } from '../../../shared/utilisation/machine-table.ts';
import {
  machineMeasureText,
  processorsText,
  type MachineNames,
} from '../../../shared/utilisation/machine-text.ts';
import { formatBytes } from '../../../shared/words/units.ts';
import { valueCell, type TableCell, type TableTwin } from '../table-twin.ts';

export function machineTwin(
  machines: readonly MachineRow[],
  nameOf: MachineNames,
): TableTwin {
  const shown = MACHINE_MEASURE_IDS.filter((measure) =>
    machines.some(({ means }) => means[measure] !== undefined),
  );
  return {
    columns: [
      ...['machine', 'part', 'processors busy', 'processors', 'memory, bytes'],
      ...shown.map(titleOf),
    ],
    rows: machines.flatMap((machine) => [
      {
        key: machine.node,
        cells: machineCells(machine, nameOf, shown),
      },
      ...partRows(machine, nameOf, shown),
    ]),
  };
}

const titleOf = (measure: MachineMeasure): string => {
  const { title, unit } = MACHINE_MEASURES[measure];
  return unit === 'rate' ? `${title}, bytes/s` : `${title}, share`;
};

function machineCells(
  { means, memory, node, processors }: MachineRow,
  nameOf: MachineNames,
  shown: readonly MachineMeasure[],
): readonly TableCell[] {
  const busy =
    means.busy === undefined || processors === undefined
      ? undefined
      : means.busy * processors;
  return [
    nameOf(node),
    '',
    valueCell(busy, processorsText),
    valueCell(processors, processorsText),
    valueCell(memory, formatBytes),
    ...shown.map((measure) =>
      valueCell(means[measure], (value) => machineMeasureText(measure, value)),
    ),
  ];
}

/** Ranks and GPUs of a machine: of them only processors, memory and shares are known. */
function partRows(
  { gpus, node, ranks }: MachineRow,
  nameOf: MachineNames,
  shown: readonly MachineMeasure[],
): TableTwin['rows'] {
  const nothing = shown.map(() => '');
  return [
    ...ranks.map(({ busy, memory, rank }) => ({
      key: `${node} rank ${rank}`,
      cells: [
        nameOf(node),
        `rank ${rank}`,
        valueCell(busy, processorsText),
        '',
        valueCell(memory, formatBytes),
        ...nothing,
      ],
    })),
    ...gpus.map(({ bus, busy, memory, name }) => ({
      key: `${node} ${bus}`,
      cells: [
        nameOf(node),
        `${name} at ${bus}`,
        ...['', ''],
        valueCell(memory, formatBytes),
        ...shown.map((measure) =>
          measure === 'gpu'
            ? valueCell(busy, (value) => machineMeasureText(measure, value))
            : '',
        ),
      ],
    })),
  ];
}
