/**
 * A figure with the paper's own sizes, on machines that a user names. Its cases have the same
 * ids as at laptop scale, so the rule, the chart and the table stay the same.
 */
import path from 'node:path';
import { inputError } from '../shared/errors/errors.ts';
import type { Case, Figure } from './figure.ts';
import { plannedRuns } from './planned-runs.ts';

export interface FullScale {
  /** `workload.data` is a file in the user's directory; default: the directory. */
  readonly cases: readonly Case[];
  /** Differences between these runs and the paper's. */
  readonly differences: readonly string[];
  /** Settings of these runs, each with the place in the paper or the reason. */
  readonly settings: Figure['settings'];
  readonly data?: BroughtData;
  /** The claim, if the figure's own names a smaller model. */
  readonly title?: string;
  /** The measure, if other iterations count than at laptop scale. */
  readonly measure?: Figure['measure'];
}

/** Data that the user must supply. */
export interface BroughtData {
  /** `CIFAR-10` */
  readonly name: string;
  /** The way to get the data: a sentence; the directory is added after it. */
  readonly from: string;
}

/** Machines and data that the user supplies for a figure at full scale. */
export interface Machines {
  readonly nodes: readonly string[];
  /**
   * Processors of all machines together; undefined if a machine does not report its
   * number.
   */
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
      place: '--data',
      next: `${from} Then name the directory: --data DIRECTORY.`,
    });
  }
  const { title = figure.title, measure = figure.measure, settings } = full;
  const onMachines: Figure = {
    ...figure,
    id: fullScaleId(figure),
    title,
    measure,
    differences: full.differences,
    settings,
    cases: full.cases.map((one) =>
      placed(one, nodes, full.data === undefined ? undefined : data),
    ),
  };
  const ranks = Math.max(
    ...plannedRuns(onMachines).map(({ spec }) => spec.world.ranks),
  );
  // Accuracies come out the same on fewer, only later.
  if (figure.timed && processors !== undefined && processors < ranks) {
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

const fullScaleId = ({ id }: Pick<Figure, 'id'>): string => `${id}-full`;

/**
 * Uses at most as many machines as there are ranks, because idle machines are refused.
 */
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
