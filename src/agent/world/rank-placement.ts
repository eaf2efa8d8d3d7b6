/** Tells where and how to start ranks that do not run on their supervisor's machine. */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { ProcessExit, RankCommand } from './rank-process.ts';

export interface RankPlacement {
  /** A number for the machine of each rank, by rank. */
  readonly places: readonly number[];
  /** Cores per rank; less than 1 if they share one. */
  readonly coresPerRank: number;
  /** Time within which all of them must listen. */
  readonly startMs: number;
  /** The machine's name in records. */
  readonly nodeOf: (rank: number) => string;
  /** The machine's own address, where peers find the rank. */
  readonly listenOf: (rank: number) => string;
  /** The command that starts `entry` there. */
  readonly commandOf: (
    rank: number,
    entry: string,
  ) => Pick<RankCommand, 'prefix' | 'reports'>;
  /** A better explanation of a process's end than its exit code, if there is one. */
  readonly explain: (rank: number, exit: ProcessExit) => ErrorData | undefined;
}
