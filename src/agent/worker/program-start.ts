/** Starts the program of a rank, with the variables that torchrun would set. */
import { createServer } from 'node:net';
import path from 'node:path';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import { Program } from '../bridge/program.ts';
import { pythonFolder } from '../bundle/python-folder.ts';

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
  const { rank, spec } = configuration;
  const { command = [], observe = false, setup, workdir } = spec.workload;
  return Program.start({
    rank,
    command,
    setup,
    workdir,
    env: variablesOf(start),
    observes: observe,
    patienceMs: spec.patienceSeconds * 1000,
    failed,
  });
}

/** Addresses of the loopback, which a program's own processes reach by name. */
const LOCAL = '127.0.0.1';

function variablesOf({ addresses, configuration }: ProgramStart): NodeJS.ProcessEnv {
  const { places, rank, spec, threads } = configuration;
  const { env = {}, observe = false } = spec.workload;
  const here = places?.[rank];
  const ranks = addresses.map((_, other) => other);
  const local = ranks.filter((other) => places?.[other] === here);
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
    RANK: String(rank),
    LOCAL_RANK: String(local.indexOf(rank)),
    WORLD_SIZE: String(addresses.length),
    LOCAL_WORLD_SIZE: String(local.length),
    MASTER_ADDR: host === '::' || host === '0.0.0.0' ? LOCAL : host,
    MASTER_PORT: String(master ?? 0),
  };
}

/** A port that is free now, for the program's own process group. */
export async function masterPort(host: string, ports?: PortRange): Promise<number> {
  // Ranks take theirs from the first one upwards.
  for (let port = ports?.last ?? 0; port >= (ports?.first ?? 0); port--) {
    const found = await freePort(host, port);
    if (found !== undefined) return found;
  }
  return 0;
}

function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' ? address?.port : undefined);
      });
    });
  });
}
