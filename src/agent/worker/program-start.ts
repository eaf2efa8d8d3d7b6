/** Starts the program of a rank, with the variables that torchrun would set. */
import path from 'node:path';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import { Program } from '../bridge/program.ts';
import { pythonFolder } from '../bundle/python-folder.ts';
import { awaitingPath } from './awaiting-place.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

export interface ProgramStart {
  readonly configuration: Configuration;
  /** Addresses of all ranks. */
  readonly addresses: readonly RankAddress[];
  /** Takes the error when the program is lost. */
  readonly failed: (error: unknown) => void;
}

export function startProgram(start: ProgramStart): Promise<Program> {
  const { configuration, failed } = start;
  const { rank, run, spec } = configuration;
  const { command, external = false, observe = false, setup, workdir } = spec.workload;
  const { ranks } = spec.world;
  const common = {
    run,
    rank,
    setup,
    workdir,
    observes: observe,
    patienceMs: spec.patienceSeconds * 1000,
    failed,
  };
  if (!external)
    return Program.start({ ...common, command, env: ranksVariables(start) });
  const isFirst = ranksHere(configuration, ranks)[0] === rank;
  return Program.start({
    ...common,
    bridge: awaitingPath({ rank, ranks, run }),
    // One launcher starts all ranks of a machine.
    command: isFirst ? command : undefined,
    launches: command !== undefined,
    env: launcherVariables(start),
  });
}

/** Ranks on the machine of this one. */
function ranksHere({ places, rank }: Configuration, ranks: number): readonly number[] {
  const here = places?.[rank];
  return Array.from({ length: ranks }, (_, other) => other).filter(
    (other) => places?.[other] === here,
  );
}

/** Addresses of the loopback, which a program's own processes reach by name. */
const LOCAL = '127.0.0.1';

/** Variables of every program. */
function variablesOf({ addresses, configuration }: ProgramStart): NodeJS.ProcessEnv {
  const { spec, threads } = configuration;
  const { env = {}, observe = false } = spec.workload;
  const { host, master } = addresses[0]!;
  const folder = pythonFolder();
  // Ours come first: the package is the agent's own version.
  const paths = [
    ...(observe ? [path.join(folder, 'gradwire/observe')] : []),
    folder,
    ...(process.env['PYTHONPATH'] ?? '').split(path.delimiter),
  ].filter((each) => each !== '');
  return {
    ...process.env,
    OMP_NUM_THREADS: String(threads),
    // A log whose lines come late explains nothing.
    PYTHONUNBUFFERED: '1',
    ...env,
    PYTHONPATH: [...paths, ...(env['PYTHONPATH'] ?? '').split(path.delimiter)]
      .filter((each) => each !== '')
      .join(path.delimiter),
    MASTER_ADDR: host === '::' || host === '0.0.0.0' ? LOCAL : host,
    MASTER_PORT: String(master ?? 0),
  };
}

/** Variables of the program of a rank: all that torchrun would set. */
function ranksVariables(start: ProgramStart): NodeJS.ProcessEnv {
  const { rank } = start.configuration;
  const ranks = start.addresses.length;
  const local = ranksHere(start.configuration, ranks);
  return {
    ...variablesOf(start),
    RANK: String(rank),
    LOCAL_RANK: String(local.indexOf(rank)),
    WORLD_SIZE: String(ranks),
    LOCAL_WORLD_SIZE: String(local.length),
  };
}

/** Variables of a launcher, which numbers its ranks itself. */
function launcherVariables(start: ProgramStart): NodeJS.ProcessEnv {
  const { places = [], rank, run } = start.configuration;
  const machines = [...new Set(places)];
  return {
    ...variablesOf(start),
    GRADWIRE_RUN: run,
    NNODES: String(Math.max(1, machines.length)),
    NODE_RANK: String(Math.max(0, machines.indexOf(places[rank]!))),
  };
}
