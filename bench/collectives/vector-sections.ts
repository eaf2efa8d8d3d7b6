/**
 * What is measured of vectors: dense ones of all sizes (the sweep of nccl-tests and of
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
import type { LinkName } from './links.ts';
import { onStage, type Session } from './stage.ts';

export interface Reports {
  /** Before the first outcome of each world. */
  readonly staged: (section: string, stage: Stage) => void;
  readonly measured: (section: string, stage: Stage, outcome: Outcome) => void;
}

interface Plan {
  readonly section: string;
  readonly ranks: number;
  readonly links: LinkName;
  readonly cells: readonly {
    readonly shape: VectorShape;
    readonly schedule: Schedule;
  }[];
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

export async function measureVectors(
  session: Session,
  { staged, measured }: Reports,
): Promise<void> {
  for (const plan of session.links.flatMap((links) => plans(session, links))) {
    await onStage(session, plan, async (stage) => {
      staged(plan.section, stage);
      for (const { shape, schedule } of plan.cells) {
        measured(plan.section, stage, await contest(stage, shape, schedule));
      }
    });
  }
}

function plans(session: Session, links: LinkName): readonly Plan[] {
  const { sections, quick } = session;
  const ranks = session.ranks ?? (quick ? [2] : [2, 4]);
  const chosen: Plan[] = [];
  if (sections.includes('sweep')) {
    const sizes = session.sizes ?? (quick ? [8, 64 * K] : SWEEP_BYTES);
    const cells = sizes.map((bytes) => ({
      shape: { length: bytes / 4 },
      schedule: quick ? QUICK : scheduleOf(bytes),
    }));
    chosen.push(...ranks.map((ranks) => ({ section: 'sweep', ranks, links, cells })));
  }
  if (sections.includes('grid')) {
    const sizes = session.sizes ?? (quick ? [64 * K] : GRID_BYTES);
    const cells = sizes.flatMap((bytes) =>
      (quick ? [0.01] : GRID_DENSITIES).map((density) => ({
        shape: sparseShape(bytes / 4, density),
        schedule: quick ? QUICK : { ...scheduleOf(bytes), batch: 1 },
      })),
    );
    chosen.push(...ranks.map((ranks) => ({ section: 'grid', ranks, links, cells })));
  }
  if (sections.includes('sparse')) chosen.push(...sparCml(session, links));
  return chosen;
}

function sparCml({ ranks, sizes, quick }: Session, links: LinkName): readonly Plan[] {
  const length = (sizes?.[0] ?? (quick ? 256 * K : 4 * SPARSE_LENGTH)) / 4;
  const count = Math.ceil((length * SPARSE_COUNT) / SPARSE_LENGTH);
  const schedule = quick
    ? QUICK
    : { rounds: 5, repetitions: 10, batch: 1, dataSets: 5, denseRepetitions: 3 };
  const once = { ...schedule, repetitions: quick ? 1 : 3, denseRepetitions: 1 };
  return [
    ...(ranks ?? (quick ? [2] : SPARSE_RANKS)).map((ranks) => ({
      ...{ section: 'sparse', ranks, links },
      cells: [{ shape: { length, count }, schedule }],
    })),
    {
      ...{ section: 'density', links },
      ranks: ranks?.at(-1) ?? (quick ? 2 : DENSITY_RANKS),
      cells: (quick ? [0.001, 0.1] : DENSITIES).map((density) => ({
        shape: sparseShape(length, density),
        schedule: once,
      })),
    },
  ];
}

function sparseShape(length: number, density: number): VectorShape {
  return { length, count: Math.ceil(density * length) };
}

const QUICK: Schedule = { rounds: 1, repetitions: 3, batch: 1, dataSets: 1 };

/** More of what is short, so that every size takes about as long. */
function scheduleOf(bytes: number): Schedule {
  const rounds = 3;
  const dataSets = 3;
  if (bytes <= 4 * K) return { rounds, dataSets, repetitions: 15, batch: 20 };
  if (bytes <= 64 * K) return { rounds, dataSets, repetitions: 15, batch: 5 };
  if (bytes <= M) return { rounds, dataSets, repetitions: 12, batch: 1 };
  if (bytes <= 16 * M) return { rounds, dataSets, repetitions: 5, batch: 1 };
  return { rounds, dataSets, repetitions: 2, batch: 1 };
}
