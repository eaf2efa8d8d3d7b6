/**
 * A figure with the paper's own sizes, on machines that a user names. Its cases have the ids of
 * those at laptop scale: the rule, the chart and the table stay as they are.
 */
import path from 'node:path';
import { inputError } from '../../shared/errors.ts';
import type { Case, Figure } from './figure.ts';
import { plannedRuns } from './planned-runs.ts';

export interface FullScale {
  /** `workload.data` is a file in the user's directory; without it, the directory. */
  readonly cases: readonly Case[];
  /** How these runs differ from the paper's. */
  readonly differences: readonly string[];
  readonly data?: BroughtData;
  /** Where the figure's own names a smaller model. */
  readonly title?: string;
  /** Where other iterations count than at laptop scale. */
  readonly measure?: Figure['measure'];
}

/** Data that the user has to bring along. */
export interface BroughtData {
  /** `CIFAR-10` */
  readonly name: string;
  /** How to come by them: a sentence, to which its reader's directory is added. */
  readonly from: string;
}

/** What a user gives for it. */
export interface Machines {
  readonly nodes: readonly string[];
  /** Of all of them together; undefined where a machine does not say. */
  readonly processors: number | undefined;
  /** A directory; absolute. */
  readonly data?: string | undefined;
}

/**
 * @throws GradwireError `FULL_SCALE_MISSING`, `DATA_DIRECTORY_MISSING`, `WORLD_TOO_SMALL`
 */
export function atFullScale(
  figure: Figure,
  { nodes, processors, data }: Machines,
  others: readonly Figure[],
): Figure {
  const { full, id } = figure;
  if (full === undefined) {
    const ids = others.filter((other) => other.full !== undefined).map((one) => one.id);
    throw inputError(
      'FULL_SCALE_MISSING',
      `${id} can only be reproduced at laptop scale`,
      {
        next: `Remove --full, or choose one of: ${ids.join(', ')}.`,
      },
    );
  }
  if (full.data !== undefined && data === undefined) {
    const { from, name } = full.data;
    throw inputError('DATA_DIRECTORY_MISSING', `${id} at full scale needs ${name}`, {
      ...{
        place: '--data',
        next: `${from} Then name the directory: --data DIRECTORY.`,
      },
    });
  }
  const { title = figure.title, measure = figure.measure } = full;
  const onMachines: Figure = {
    ...figure,
    ...{ id: fullScaleId(figure), title, measure, differences: full.differences },
    cases: full.cases.map((one) =>
      placed(one, nodes, full.data === undefined ? undefined : data),
    ),
  };
  const ranks = Math.max(
    ...plannedRuns(onMachines).map(({ spec }) => spec.world.ranks),
  );
  if (processors !== undefined && processors < ranks) {
    throw inputError(
      'WORLD_TOO_SMALL',
      `${id} at full scale has ${ranks} ranks, but the machines have ${processors} ${processors === 1 ? 'processor' : 'processors'}`,
      {
        place: `--nodes ${nodes.join(',')}`,
        next: `Name machines with ${ranks} processors in total, or remove --full.`,
      },
    );
  }
  return onMachines;
}

export const fullScaleId = ({ id }: Pick<Figure, 'id'>): string => `${id}-full`;

/** On as many of the machines as it has ranks, for idle ones would be refused. */
function placed(
  { spec, ...one }: Case,
  nodes: readonly string[],
  directory: string | undefined,
): Case {
  const { world, workload } = spec as {
    readonly world: { readonly ranks: number };
    readonly workload: { readonly data?: string };
  };
  const data =
    directory === undefined ? undefined : path.join(directory, workload.data ?? '');
  return {
    ...one,
    spec: {
      ...spec,
      world: { ...world, nodes: nodes.slice(0, world.ranks) },
      workload: { ...workload, ...(data === undefined ? {} : { data }) },
    },
  };
}
