/**
 * Measurements of vectors: dense ones of all sizes (the sweep of nccl-tests and of
 * OSU), SparCML's microbenchmark and its time against density, and a grid of sparse shapes
 * on which `auto` has to choose.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 8.1: N = 16 M, d = 0.781 %, uniform
 * indices, five data sets, ten repetitions of each.
 */
import {
  contest,
  type Outcome,
  type Schedule,
  type Stage,
  type VectorShape,
} from './contest.ts';
import { onStage, type Session } from './stage.ts';

export interface Reports {
  /** Called before the first outcome of each world. */
  readonly staged: (stage: Stage) => void;
  readonly measured: (section: string, stage: Stage, outcome: Outcome) => void;
}

interface Cell {
  readonly section: string;
  readonly ranks: number;
  readonly shape: VectorShape;
  readonly schedule: Schedule;
}

const K = 2 ** 10;
const M = 2 ** 20;
const SWEEP_BYTES = [8, 64, 512, 4 * K, 64 * K, 512 * K, 4 * M, 16 * M, 64 * M];
const GRID_BYTES = [64 * K, M, 16 * M];
const GRID_DENSITIES = [0.001, 0.01, 0.1];
/** SparCML's: 0.781 % of 16 M is 2¹⁷. */
const SPARSE_LENGTH = 2 ** 24;
const SPARSE_COUNT = 2 ** 17;
const SPARSE_RANKS = [2, 4, 8];
const DENSITIES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1];
/** The world in which time is measured against density. */
const DENSITY_RANKS = 8;

/** Cells of one world follow each other: it is started once on each kind of links. */
export async function measureVectors(
  session: Session,
  { staged, measured }: Reports,
): Promise<void> {
  const worlds = Map.groupBy(cellsOf(session), ({ ranks }) => ranks);
  for (const links of session.links) {
    for (const [ranks, cells] of worlds) {
      await onStage(session, { ranks, links }, async (stage) => {
        staged(stage);
        for (const { section, shape, schedule } of cells) {
          measured(section, stage, await contest(stage, shape, schedule));
        }
      });
    }
  }
}

function cellsOf(session: Session): readonly Cell[] {
  const { sections, quick } = session;
  const worlds = session.ranks ?? (quick ? [2] : [2, 4]);
  const cells: Cell[] = [];
  if (sections.includes('sweep')) {
    cells.push(...worlds.flatMap((ranks) => sweep(session, ranks)));
  }
  if (sections.includes('grid')) {
    cells.push(...worlds.flatMap((ranks) => grid(session, ranks)));
  }
  if (sections.includes('sparse')) cells.push(...sparCml(session));
  return cells;
}

function sweep({ sizes, quick }: Session, ranks: number): readonly Cell[] {
  return (sizes ?? (quick ? [8, 64 * K] : SWEEP_BYTES)).map((bytes) => ({
    section: 'sweep',
    ranks,
    shape: { length: bytes / 4 },
    schedule: quick ? QUICK : scheduleOf(bytes),
  }));
}

function grid({ sizes, quick }: Session, ranks: number): readonly Cell[] {
  return (sizes ?? (quick ? [64 * K] : GRID_BYTES)).flatMap((bytes) =>
    (quick ? [0.01] : GRID_DENSITIES).map((density) => ({
      section: 'grid',
      ranks,
      shape: sparseShape(bytes / 4, density),
      schedule: quick ? QUICK : scheduleOf(bytes),
    })),
  );
}

function sparCml({ ranks, sizes, quick }: Session): readonly Cell[] {
  const length = (sizes?.[0] ?? (quick ? 256 * K : 4 * SPARSE_LENGTH)) / 4;
  const count = Math.ceil((length * SPARSE_COUNT) / SPARSE_LENGTH);
  const densities = quick ? [0.001, 0.1] : DENSITIES;
  return [
    ...(ranks ?? (quick ? [2] : SPARSE_RANKS)).map((ranks) => ({
      section: 'sparse',
      ranks,
      shape: { length, count },
      schedule: quick ? QUICK : FIVE_SETS,
    })),
    ...densities.map((density) => ({
      section: 'density',
      ranks: ranks?.at(-1) ?? (quick ? 2 : DENSITY_RANKS),
      shape: sparseShape(length, density),
      schedule: quick ? QUICK : ONE_SET,
    })),
  ];
}

function sparseShape(length: number, density: number): VectorShape {
  return { length, count: Math.ceil(density * length) };
}

const QUICK: Schedule = { rounds: 1, repetitions: 3, batch: 1, dataSets: 1 };

const FIVE_SETS: Schedule = {
  rounds: 5,
  dataSets: 5,
  repetitions: 10,
  denseRepetitions: 3,
  batch: 1,
};
/** A dense vector takes as long at any density: one repetition in each turn. */
const ONE_SET: Schedule = {
  rounds: 3,
  dataSets: 1,
  repetitions: 3,
  denseRepetitions: 1,
  batch: 1,
};

/**
 * More of what is short, so that every size takes about as long. Many short turns: what
 * follows each other meets the same moods of the scheduler, and counts as about one.
 */
function scheduleOf(bytes: number): Schedule {
  const dataSets = 3;
  if (bytes <= 4 * K) return { rounds: 24, dataSets, repetitions: 3, batch: 20 };
  if (bytes <= 64 * K) return { rounds: 24, dataSets, repetitions: 3, batch: 10 };
  if (bytes <= M) return { rounds: 24, dataSets, repetitions: 2, batch: 4 };
  if (bytes <= 16 * M) return { rounds: 24, dataSets, repetitions: 2, batch: 1 };
  return { rounds: 6, dataSets, repetitions: 2, batch: 1 };
}
