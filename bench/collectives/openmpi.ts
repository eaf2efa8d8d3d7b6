/**
 * OpenMPI over TCP: its own `MPI_Allreduce` (bench/peers/mpi_allreduce.c), and sparse algorithms
 * written in C over its messages (bench/peers/mpi_sparse.c). mpicc builds them into a
 * temporary folder. Shared memory is switched off: what is compared is the network path.
 *
 * Where every rank has its own network, each namespace is a host to mpirun, and what
 * takes ssh's place enters it.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { failure } from '../../src/shared/errors/errors.ts';
import { DENSE_TASK, type Peer, type PeerPlace, type PeerTask } from './peer-world.ts';

const run = promisify(execFile);
const sourceOf = (program: string): string =>
  path.join(import.meta.dirname, '../peers', `${program}.c`);

/**
 * mpirun calls it as `agent HOST COMMAND…`, the command a piece of shell. All its daemons
 * are on this machine and take its name for theirs: each gets a folder for its files, as it
 * would have on its own machine.
 */
const AGENT = `#!/bin/sh
export TMPDIR="$(dirname "$0")/$1"
host=$1
shift
mkdir -p "$TMPDIR"
exec ip netns exec "$host" sh -c "$*"
`;

export const openMpi: Peer = {
  name: 'openmpi',
  missing,
  tasks: () => [DENSE_TASK],
  commands: (place) => commands('mpi_allreduce', place),
};

/** Algorithms of ours that mpi_sparse.c has. */
const SPARSE_ALGORITHMS = [
  'ssar-recursive-doubling',
  'ssar-split-allgather',
  'sparse-ring',
];

export const openMpiSparse: Peer = {
  name: 'openmpi, sparse',
  missing,
  tasks: ({ count }) => (count === undefined ? [] : SPARSE_ALGORITHMS.map(sparseTask)),
  commands: (place) => commands('mpi_sparse', place),
};

const sparseTask = (collective: string): PeerTask => ({
  collective,
  order: ({ shape: { length, count }, dataSet, batch, repetitions }) =>
    [collective, length, count, dataSet, batch, repetitions].join(' '),
});

async function missing(): Promise<string | undefined> {
  for (const [tool, debian] of [
    ['mpicc', 'libopenmpi-dev'],
    ['mpirun', 'openmpi-bin'],
  ] as const) {
    try {
      await run(tool, ['--version']);
    } catch {
      return `there is no ${tool}: install Debian's ${debian}`;
    }
  }
  return undefined;
}

async function commands(
  name: string,
  place: PeerPlace,
): Promise<readonly (readonly string[])[]> {
  const { ranks, links, socket, folder } = place;
  const program = path.join(folder, name);
  try {
    await run('mpicc', ['-O3', '-o', program, sourceOf(name)]);
  } catch (cause) {
    throw failure('BENCH_PEER_FAILED', `mpicc: ${(cause as Error).message}`, {
      next: "Install Debian's libopenmpi-dev, or leave out --peers.",
    });
  }
  const { namespaces } = links;
  const options = ['-np', String(ranks), '--oversubscribe', '--bind-to', 'none'];
  options.push('--mca', 'btl', 'tcp,self');
  // It sees one rank a host where each is in a namespace, and would spin against the rest.
  if (ranks > availableParallelism()) options.push('--mca', 'mpi_yield_when_idle', '1');
  if (process.getuid?.() === 0) options.push('--allow-run-as-root');
  if (namespaces === undefined) {
    options.push('--mca', 'btl_tcp_if_include', 'lo');
  } else {
    const agent = path.join(folder, 'agent');
    await writeFile(agent, AGENT, { mode: 0o700 });
    const { names, subnet } = namespaces;
    options.push('--host', names.map((name) => `${name}:1`).join(','));
    options.push('--mca', 'plm', 'rsh', '--mca', 'plm_rsh_agent', agent);
    options.push('--mca', 'plm_rsh_no_tree_spawn', '1');
    options.push('--mca', 'oob_tcp_if_include', subnet);
    options.push('--mca', 'btl_tcp_if_include', subnet);
  }
  const onCores = links.cores === undefined ? [] : ['sh', '-c', bindTo(links.cores)];
  return [
    ['env', `TMPDIR=${folder}`, 'mpirun', ...options, ...onCores, program, socket],
  ];
}

/** A piece of shell that runs the command in its arguments on the core of its rank. */
const bindTo = (cores: readonly number[]): string =>
  `case $OMPI_COMM_WORLD_RANK in ${cores
    .map((core, rank) => `${rank}) core=${core};;`)
    .join(' ')} esac; exec taskset -c $core "$0" "$@"`;
