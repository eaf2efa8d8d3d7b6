/**
 * Deploys the agent and, if the node has none, Node to a machine: each package into a
 * directory named by its hash under `~/.gradwire`. Packages are unpacked beside it and
 * renamed into place, so that two concurrent deployments both succeed, and an interrupted
 * one leaves nothing that looks complete.
 *
 *   agents/HASH/     the agent, with its native addons
 *   runtimes/HASH/   Node
 *   incoming/        what is being uploaded, or was when the connection was lost
 *   cache/           compiled code of the supervisor's Node
 *   nodes/HOSTNAME/  the supervisor's home on that machine: a home may be shared (NFS)
 */
import path from 'node:path';
import { GradwireError } from '../../shared/errors/errors.ts';
import type { DeployProgress } from '../../shared/machines/node-status.ts';
import type { Finding, Preflight } from '../../shared/machines/preflight.ts';
import type { Home } from '../home/home.ts';
import { installationRoot } from '../home/installation.ts';
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import { placeOf } from '../ssh/target.ts';
import {
  BASE,
  directoryOf,
  findInstalled,
  nodeOf,
  STALE_UPLOADS,
  type Agent,
} from './installed.ts';
import { chooseNode, type NodeChoice } from './node-choice.ts';
import { BEFORE_NODE } from './node-environment.ts';
import { assertStarts } from './node-launch.ts';
import type { PackageArchive } from './package-archive.ts';
import { fetchPackages, type FetchOptions } from './npm-packages.ts';
import {
  agentFiles,
  nativePackages,
  notInstalled,
  runtimeFiles,
  type PackageFile,
  type Platform,
} from './package-files.ts';
import { platformOf, platformUnsupported } from './platform.ts';
import { preflight } from './preflight.ts';
import { upload } from './upload.ts';

export interface DeployOptions {
  /** Read every deployed file, and deploy damaged packages again. */
  readonly verify?: boolean | undefined;
  /** Whether it is a login node of Slurm; default: ranks run on the machine itself. */
  readonly slurm?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((progress: DeployProgress) => void) | undefined;
}

export interface Deployment extends Agent {
  /** Bytes that were uploaded; 0 if everything was there. */
  readonly uploaded: number;
}

/** Packages kept of each kind. */
const KEPT = 2;

/**
 * Makes sure that this installation's agent is on the node. If it is, one check
 * suffices; otherwise the whole preflight runs before anything is written.
 * @throws GradwireError of the preflight's first finding that is an error,
 * `UPLOAD_DAMAGED`, `DEPLOY_FAILED`, `NODE_MISSING`, `NODE_UNUSABLE`,
 * `PACKAGES_NOT_FETCHED` and those of the connection
 */
export async function deploy(
  connection: RemoteConnection,
  home: Home,
  {
    signal,
    verify = false,
    slurm = false,
    progress = () => undefined,
  }: DeployOptions = {},
): Promise<Deployment> {
  progress({ step: 'check' });
  const installed = await findInstalled(connection, signal);
  const platform = platformOf(installed);
  if (platform === undefined) {
    throw notFit(connection, platformUnsupported(installed));
  }
  const archives = path.join(home.directory, 'packages');
  // Loaded on demand with its library, because few commands deploy.
  const { packArchive } = await import('./package-archive.ts');
  const pack = (kind: PackageArchive['kind'], files: readonly PackageFile[]) => {
    progress({ step: 'pack', package: kind });
    return packArchive(kind, files, archives);
  };
  const fetching: FetchOptions = {
    root: installationRoot(),
    directory: archives,
    signal,
    fetching: () => {
      progress({ step: 'fetch' });
    },
  };
  const choice = await chooseNode(installed, slurm, {
    isWithout: async () => {
      if (verify || installed.agents.length === 0) return false;
      const without = { brings: false, needs: false };
      const { fetched } = await fetchMissing(platform, without, fetching);
      const { hash } = await pack('agent', agentFiles(platform, fetched));
      return installed.agents.includes(hash);
    },
    inspect: () => preflight(connection, { signal, bringsNode: true }),
  });
  const { bringsNode, fetched } = await fetchMissing(platform, choice, fetching);
  const agent = await pack('agent', agentFiles(platform, fetched));
  const runtime = bringsNode
    ? await pack('runtime', runtimeFiles(platform, fetched))
    : undefined;
  const packages = runtime === undefined ? [agent] : [agent, runtime];
  // An agent without Node says that none runs there: it comes last.
  const wanted = choice.needs ? packages : packages.toReversed();
  const node = runtime === undefined ? 'node' : nodeOf(runtime.hash);
  const named = [...installed.agents, ...installed.runtimes];
  const isNamed = ({ hash }: PackageArchive): boolean => named.includes(hash);
  let uploaded = 0;
  let fits = false;
  const send = async (archive: PackageArchive): Promise<void> => {
    if (!fits)
      assertFit(connection, await preflight(connection, { signal, bringsNode }));
    fits = true;
    const damaged = isNamed(archive) || installed.broken.includes(archive.hash);
    const options = { damaged, signal, progress };
    uploaded += await upload(connection, archive, options);
  };
  const there = wanted.filter(isNamed);
  // Only its own Node can tell whether an agent is whole.
  const isUnchecked = verify && runtime !== undefined && !isNamed(runtime);
  if (isUnchecked && there.length > 0) {
    await send(runtime);
    there.push(runtime);
  }
  const whole = verify ? await wholeOf(connection, there, node, signal) : there;
  for (const archive of wanted) if (!whole.includes(archive)) await send(archive);
  const deployed = { agent: agent.hash, node, connection: installed.connection };
  if (fits || verify) await assertStarts(connection, deployed, signal);
  if (fits || installed.stale) await prune(connection, wanted, signal);
  return { ...deployed, uploaded };
}

interface Fetched {
  readonly bringsNode: boolean;
  /**
   * The folder with what a machine unlike this computer needs beside this installation; undefined
   * where that is nothing.
   */
  readonly fetched: string | undefined;
}

/**
 * Fetches what a machine unlike this computer needs. Without koffi alone its ranks use the tcp
 * transport and say so; without any Node nothing runs.
 */
async function fetchMissing(
  platform: Platform,
  { brings, needs }: NodeChoice,
  options: FetchOptions,
): Promise<Fetched> {
  const missing = notInstalled(nativePackages(platform, { runtime: brings }));
  if (missing.length === 0) return { bringsNode: brings, fetched: undefined };
  try {
    const fetched = await fetchPackages(missing, platform, options);
    return { bringsNode: brings, fetched };
  } catch (error) {
    if (needs || !(error instanceof GradwireError)) throw error;
    return { bringsNode: false, fetched: undefined };
  }
}

/** @throws GradwireError the first thing that keeps a node from being used */
function assertFit(connection: RemoteConnection, { findings }: Preflight): void {
  const found = findings.find(({ level }) => level === 'error');
  if (found !== undefined) throw notFit(connection, found);
}

function notFit({ target }: RemoteConnection, { code, message, next }: Finding): Error {
  return new GradwireError({
    code,
    kind: 'failure',
    message,
    place: placeOf(target),
    next,
  });
}

/** Reads "HASH PATH" lines; prints the numbers of those that do not match. */
const COMPARE = `
const { createHash } = require('node:crypto');
const { closeSync, openSync, readFileSync, readSync } = require('node:fs');
const piece = Buffer.allocUnsafe(1 << 20);
function sumOf(file) {
  const hash = createHash('sha256');
  const descriptor = openSync(file);
  for (let count; (count = readSync(descriptor, piece)) > 0; )
    hash.update(piece.subarray(0, count));
  closeSync(descriptor);
  return hash.digest('hex');
}
readFileSync(0, 'utf8').split('\\n').forEach((line, index) => {
  let sum = 'unreadable';
  try {
    sum = sumOf(line.slice(65));
  } catch {
    // A missing or unreadable file counts as damaged.
  }
  if (sum !== line.slice(0, 64)) console.log(index);
});
`;

/**
 * The packages whose files are all as sent. Their own Node checks them, because it hashes
 * twice as fast as `sha256sum`. A Node that does not run counts as damaged.
 */
async function wholeOf(
  connection: RemoteConnection,
  archives: readonly PackageArchive[],
  node: string,
  signal: AbortSignal | undefined,
): Promise<readonly PackageArchive[]> {
  const files = archives.flatMap((archive) =>
    Object.entries(archive.sums).map(([name, sum]) => ({ archive, name, sum })),
  );
  if (files.length === 0) return [];
  const sums = files.map(
    ({ archive, name, sum }) => `${sum} ${directoryOf(archive)}/${name}`,
  );
  const script = `${BEFORE_NODE}; cd "$HOME" && printf %s "$sums" | "$node" -e "$compare"`;
  const { code, stdout } = await runScript(connection, script, {
    variables: { sums: sums.join('\n'), node, compare: COMPARE },
    name: 'the inspection of the agent',
    signal,
  });
  if (code !== 0) return [];
  const damaged = stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => files[Number(line)]?.archive);
  return archives.filter((archive) => !damaged.includes(archive));
}

/**
 * Removes old packages except the newest two of each kind and those that a supervisor runs,
 * and remains of uploads that were interrupted over a day ago.
 */
async function prune(
  connection: RemoteConnection,
  wanted: readonly PackageArchive[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const script = `
cd "$HOME/${BASE}" || exit 0
find ${STALE_UPLOADS} -exec rm -rf {} + 2>/dev/null
used="$wanted $(cat nodes/*/agent nodes/*/runtime 2>/dev/null)"
prune() {
  kept=0
  for name in $(ls -t "$1" 2>/dev/null); do
    kept=$((kept + 1))
    [ "$kept" -gt ${KEPT} ] || continue
    case "$used" in *"$name"*) continue;; esac
    rm -rf "$1/$name"
  done
}
prune agents
# An older supervisor does not say which Node it runs.
for node in nodes/*; do
  [ ! -e "$node/agent" ] || [ -e "$node/runtime" ] || exit 0
done
prune runtimes
`;
  const variables = { wanted: wanted.map(({ hash }) => hash).join(' ') };
  await runScript(connection, script, { variables, name: 'pruning', signal });
}
