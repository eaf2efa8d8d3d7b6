/** All codes of errors and notices, in the groups and the order of the reference. */
import type { CodeEntry, CodeGroup } from './code-group.ts';
import { appCodes } from './app-codes.ts';
import { benchCodes } from './bench-codes.ts';
import { commandCodes } from './command-codes.ts';
import { dataCodes } from './data-codes.ts';
import { findingsCodes } from './findings-codes.ts';
import { gpuCodes } from './gpu-codes.ts';
import { homeCodes } from './home-codes.ts';
import { installationCodes } from './installation-codes.ts';
import { machinesCodes } from './machines-codes.ts';
import { noticesCodes } from './notices-codes.ts';
import { programsCodes } from './programs-codes.ts';
import { pytorchCodes } from './pytorch-codes.ts';
import { ranksCodes } from './ranks-codes.ts';
import { runsCodes } from './runs-codes.ts';
import { slurmCodes } from './slurm-codes.ts';
import { specCodes } from './spec-codes.ts';
import { sshCodes } from './ssh-codes.ts';
import { sweepsCodes } from './sweeps-codes.ts';
import { systemCodes } from './system-codes.ts';
import { vectorsCodes } from './vectors-codes.ts';

const groups = [
  commandCodes,
  installationCodes,
  systemCodes,
  homeCodes,
  runsCodes,
  sweepsCodes,
  ranksCodes,
  specCodes,
  dataCodes,
  vectorsCodes,
  programsCodes,
  gpuCodes,
  machinesCodes,
  sshCodes,
  slurmCodes,
  appCodes,
  noticesCodes,
  findingsCodes,
  pytorchCodes,
  benchCodes,
] as const;

type CodeOf<Group> = Group extends CodeGroup<infer Code> ? Code : never;

/** A code of an error or a notice: a public contract, never given another meaning. */
export type ErrorCode = CodeOf<(typeof groups)[number]>;

export const codeGroups: readonly CodeGroup[] = groups;

/** The entry of a code; undefined for one of another version. */
export function codeEntry(code: string): CodeEntry | undefined {
  const group = codeGroups.find(({ codes }) => Object.hasOwn(codes, code));
  return group?.codes[code];
}
