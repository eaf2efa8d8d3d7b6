/**
 * Measures the links between machines: each machine of a pair starts a process, and the two
 * communicate as ranks of a run would, over the same transport and sealed. Pairs are
 * measured one after another: two at once might share a switch, or a core, and see half of
 * it.
 *
 * If a pair cannot be measured, its result gives the reason, and the others continue. While a run is
 * in progress nothing is measured unless requested: it would disturb the run, and the results would be
 * what the run leaves free.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { hostAndPort } from '../../shared/machines/destination.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import {
  linkMeasureSchema,
  type BusyRun,
  type LinkStatus,
  type PairOutcome,
} from '../../shared/machines/link-status.ts';
import { listenAddress } from './listen-address.ts';
import type { NodeLink } from './node-link.ts';
import { sameMachine } from './same-machine.ts';

/** Time limit, from the start of the first process to the last message. */
const PAIR_MS = 45_000;
const OPEN_MS = 25_000;
const ASK_MS = 10_000;
const CLOSE_MS = 5_000;
const SECRET_BYTES = 32;

export interface LinkCheckOptions {
  /** Whether to measure beside runs in progress, too; default: such pairs are skipped. */
  readonly whileRunning?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ports for machines without their own setting: this computer. */
  readonly ports?: PortRange | undefined;
  /** Called when a pair begins. */
  readonly begins?: (nodes: readonly [string, string], index: number) => void;
}

/** All pairs of machines, each once, in the order of the machines. */
export function pairsOf<T>(nodes: readonly T[]): readonly (readonly [T, T])[] {
  return nodes.flatMap((a, index) =>
    nodes.slice(index + 1).map((b): readonly [T, T] => [a, b]),
  );
}

/**
 * Yields each pair's outcome as it comes. If the signal is aborted, closes what was
 * begun and ends early.
 */
export async function* checkLinks(
  nodes: readonly NodeLink[],
  options: LinkCheckOptions = {},
): AsyncGenerator<PairOutcome> {
  const over = new AbortController();
  try {
    // A machine that is out of reach is reported once, not once per pair.
    const reached = await Promise.race([
      reachAll(nodes),
      stopped(options.signal, over.signal).catch(() => undefined),
    ]);
    if (reached !== undefined) yield* checkPairs(nodes, reached, options);
  } finally {
    over.abort();
  }
}

/** Connects to all; returns the reason for each machine that cannot be reached. */
async function reachAll(
  nodes: readonly NodeLink[],
): Promise<ReadonlyMap<NodeLink, ErrorData | undefined>> {
  const errors = await Promise.all(nodes.map((node) => errorOf(node.connect())));
  return new Map(nodes.map((node, index) => [node, errors[index]]));
}

async function* checkPairs(
  nodes: readonly NodeLink[],
  reached: ReadonlyMap<NodeLink, ErrorData | undefined>,
  options: LinkCheckOptions,
): AsyncGenerator<PairOutcome> {
  for (const [index, [a, b]] of pairsOf(nodes).entries()) {
    if (options.signal?.aborted === true) return;
    options.begins?.([a.name, b.name], index);
    const error = reached.get(a) ?? reached.get(b) ?? oneMachine(a, b);
    const outcome =
      error === undefined
        ? await checkPair(a, b, options)
        : outcomeOf(a, b, { failure: error });
    // It was cancelled, which says nothing about the link.
    if (outcome !== undefined) yield outcome;
  }
}

/** Returns the error of a pair that is one machine under two names: there is no link. */
const oneMachine = (a: NodeLink, b: NodeLink): ErrorData | undefined =>
  sameMachine(
    [a, b],
    (_, second) =>
      `What lies within it is measured by: gradwire bench network --node ${second}. ` +
      `If one name is enough: gradwire nodes remove ${second}.`,
  )?.toData();

async function checkPair(
  a: NodeLink,
  b: NodeLink,
  options: LinkCheckOptions,
): Promise<PairOutcome | undefined> {
  const { whileRunning = false, signal } = options;
  try {
    const before = await runsAt([a, b]);
    if (before.length > 0 && !whileRunning) return outcomeOf(a, b, { runs: before });
    const links = await measure(a, b, options);
    // A run that has begun meanwhile has used part of the link.
    const runs = before.length > 0 ? before : await runsAt([a, b]);
    return outcomeOf(
      a,
      b,
      runs.length > 0 && !whileRunning ? { runs } : { links, runs },
    );
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    return outcomeOf(a, b, { failure: toErrorData(error) });
  }
}

async function measure(
  a: NodeLink,
  b: NodeLink,
  { signal, ports: herePorts }: LinkCheckOptions,
): Promise<readonly [LinkStatus, LinkStatus]> {
  const ends = [a, b] as const;
  const link = randomUUID();
  const secret = randomBytes(SECRET_BYTES);
  const stop = new AbortController();
  const limits = [stopped(signal, stop.signal), late(a, b, stop.signal)] as const;
  try {
    const within = <T>(work: Promise<T>): Promise<T> => {
      work.catch(() => undefined);
      return Promise.race([work, ...limits]);
    };
    const [first, second] = await within(
      Promise.all(
        ends.map(async (node, index) => {
          const end = index as 0 | 1;
          const listen = listenAddress(node, ends);
          const ports = node.ports ?? herePorts;
          const body = { link, end, listen, ports };
          const opened = await at(node, node.request('openLinkEnd', body, OPEN_MS));
          return { ...opened.address, node: node.name };
        }),
      ),
    );
    const addresses = [first!, second!] as const;
    const timed = await within(
      Promise.all(
        ends.map((node, index) => {
          const end = index as 0 | 1;
          const body = { link, end, addresses, secret, encrypt: true };
          return at(node, node.request('timeLink', body, PAIR_MS));
        }),
      ),
    ).catch((error: unknown) => {
      throw inWordsOfMachines(error, ends, addresses);
    });
    const { timing, transport } = timed[0]!;
    const common = {
      alpha: timing?.alpha,
      measuredAt: Date.now(),
      transport,
      encrypted: true,
    };
    const [from, to] = addresses.map(({ host }) => host) as [string, string];
    // Another machine's word: what is stored is read again for every run.
    const there = linkMeasureSchema.safeParse({
      ...common,
      beta: timing?.there,
      addresses: { from, to },
    });
    const back = linkMeasureSchema.safeParse({
      ...common,
      beta: timing?.back,
      addresses: { from: to, to: from },
    });
    if (!there.success || !back.success) {
      throw failure('LINK_CHECK_EMPTY', `${a.name} returned no usable measurements`, {
        next: 'Deploy the same version of the agent on both machines.',
      });
    }
    return [
      { from: a.name, to: b.name, measure: there.data },
      { from: b.name, to: a.name, measure: back.data },
    ];
  } finally {
    stop.abort();
    await Promise.all(
      ends.map((node) =>
        // An end that cannot be reached closes by itself.
        errorOf(node.connection?.request('closeLink', { link }, CLOSE_MS)),
      ),
    );
  }
}

/** Runs in progress on these machines, launched from any computer. */
export async function runsAt(nodes: readonly NodeLink[]): Promise<readonly BusyRun[]> {
  const found = await Promise.all(
    nodes.map(async (node) => {
      const { runs } = await at(node, node.request('runs', {}, ASK_MS));
      return runs
        .filter(({ phase }) => phase !== 'ended')
        .map(({ run }) => ({ node: node.name, run }));
    }),
  );
  return found.flat();
}

/** The error with the machine as its place, if it names none. */
export async function at<T>(node: NodeLink, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    if (error.code === 'REQUEST_UNKNOWN') throw agentTooOld(node.name);
    throw new GradwireError({ ...error.toData(), rank: undefined, place: node.name });
  }
}

const agentTooOld = (name: string): Error =>
  failure('AGENT_TOO_OLD', 'its agent is too old to measure networks', {
    place: name,
    next: 'Let its runs end, then try again: Gradwire will update the agent.',
  });

const UNREACHED = ['PEER_UNREACHABLE', 'PEER_TIMEOUT', 'PEER_UNAUTHENTICATED'];
const LOST = ['PEER_LOST', 'PEER_SILENT', 'WORKER_DIED', 'WORKER_SILENT'];

/**
 * Explains the error of one end: the transport knows only ranks, so this names the machines
 * and the next step.
 */
function inWordsOfMachines(
  error: unknown,
  [a, b]: readonly [NodeLink, NodeLink],
  addresses: readonly RankAddress[],
): unknown {
  if (!(error instanceof GradwireError)) return error;
  const [first, second] = addresses.map(({ host, port }) => hostAndPort(host, port));
  const cause = `${error.code}: ${error.message}`;
  if (UNREACHED.includes(error.code)) {
    return failure(
      'LINK_UNREACHABLE',
      `no connection between ${a.name} (${first}) and ${b.name} (${second}); ${cause}`,
      {
        place: `${a.name} – ${b.name}`,
        next:
          'Check for a firewall between them. Set another address, or the ports that it ' +
          'allows: gradwire nodes edit NAME --address, --ports.',
      },
    );
  }
  if (!LOST.includes(error.code)) return error;
  return failure(
    'LINK_LOST',
    `the link between ${a.name} and ${b.name} broke during the measurement; ${cause}`,
    { place: `${a.name} – ${b.name}`, next: 'Measure it again.' },
  );
}

/** Rejects when the measurement is cancelled. */
function stopped(signal: AbortSignal | undefined, over: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const cancel = (): void => {
    reject(failure('ABORTED', 'the measurement was cancelled'));
  };
  if (signal?.aborted === true) cancel();
  else signal?.addEventListener('abort', cancel, { signal: over });
  return promise;
}

/** Rejects when the pair's time is over. */
async function late(a: NodeLink, b: NodeLink, over: AbortSignal): Promise<never> {
  try {
    await sleep(PAIR_MS, undefined, { signal: over });
  } catch {
    return await new Promise<never>(() => undefined);
  }
  throw failure(
    'LINK_CHECK_TIMEOUT',
    `${a.name} and ${b.name} did not finish within ${PAIR_MS / 1000} s`,
    { next: 'One of them may be overloaded, or the link very slow. Try again.' },
  );
}

async function errorOf(
  work: Promise<unknown> | undefined,
): Promise<ErrorData | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return toErrorData(error);
  }
}

function outcomeOf(
  { name: a }: NodeLink,
  { name: b }: NodeLink,
  found: {
    readonly links?: readonly [LinkStatus, LinkStatus];
    readonly failure?: ErrorData;
    readonly runs?: readonly BusyRun[];
  },
): PairOutcome {
  const at = Date.now();
  const failed = found.failure && { failure: { at, error: found.failure } };
  return {
    nodes: [a, b],
    runs: found.runs ?? [],
    links: found.links ?? [
      { from: a, to: b, ...failed },
      { from: b, to: a, ...failed },
    ],
  };
}
