/**
 * One connected main: answers its requests and pushes the runs that it follows. A
 * subscriber that does not drain leaves the live feed and catches up from the journal
 * once its socket has drained, so nothing is lost and nothing piles up in memory.
 */
import { randomUUID } from 'node:crypto';
import { hostname, availableParallelism } from 'node:os';
import type { Socket } from 'node:net';
import { failure, inputError, toErrorData } from '../../../shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { encodeFrame, FrameDecoder } from '../../../shared/protocol/frame.ts';
import type { AskedType, RunOrder } from '../../../shared/orders/orders.ts';
import {
  isPlainMethod,
  parseRequest,
  requestId,
  type PlainMethod,
  type RequestBodies,
} from '../../../shared/protocol/requests.ts';
import {
  PROTOCOL_VERSION,
  READING_VERSION,
  type FromSupervisor,
  type RequestMessage,
  type SupervisorMethod,
  type SupervisorRequests,
} from '../../../shared/protocol/supervisor.ts';
import { makeCatalogue } from '../../launch/catalogue.ts';
import { testJob } from '../../slurm/job-test.ts';
import type { FileIntake } from '../workdirs/file-intake.ts';
import { LinkEnds } from '../measuring/link-ends.ts';
import { NetworkMeasurement } from '../measuring/network-measurement.ts';
import type { PrepareRequest, RunTable } from '../runs/run-table.ts';
import type { RestoredRun } from '../journal/restored-run.ts';
import type { SupervisedRun } from '../runs/supervised-run.ts';
import { validateLaunch } from '../../launch/validate-launch.ts';
import { inspectSpec } from '../../training/inspect/inspect-spec.ts';

/**
 * Bytes waiting in a client's socket beyond which it is taken off the live feed, and no further
 * request of it is read.
 */
const BEHIND_BYTES = 4 * 2 ** 20;

/** Identifies this supervisor to clients that reach it by several names. */
const INSTANCE = randomUUID();

type Handlers = {
  readonly [M in PlainMethod]: (
    request: SupervisorRequests[M]['request'],
  ) => SupervisorRequests[M]['reply'] | Promise<SupervisorRequests[M]['reply']>;
};

interface Subscription {
  readonly run: SupervisedRun | RestoredRun;
  /** The last sequence sent. */
  sent: number;
  live: boolean;
  readonly stop: () => void;
}

export class ClientSession {
  readonly #socket: Socket;
  readonly #runs: RunTable;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Runs that this client prepared but has not begun; they end with it. */
  readonly #unbegun = new Set<SupervisedRun>();
  readonly #linkEnds = new LinkEnds();
  readonly #network = new NetworkMeasurement();
  #intake: FileIntake | undefined;
  readonly #handlers: Handlers;
  #draining: Promise<void> | undefined;
  #isGathering = false;

  constructor(socket: Socket, runs: RunTable, version: string) {
    this.#socket = socket;
    this.#runs = runs;
    this.#handlers = this.#makeHandlers();
    const decoder = new FrameDecoder();
    socket.on('data', (chunk) => {
      try {
        for (const message of decoder.push(chunk)) {
          if (socket.destroyed) return;
          this.#handle(message);
        }
      } catch {
        socket.destroy(); // not our protocol: nothing to answer to
      }
      if (socket.writableLength > BEHIND_BYTES) this.#awaitReader();
    });
    this.#send({
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      reading: READING_VERSION,
      version,
      pid: process.pid,
      host: hostname(),
      instance: INSTANCE,
      cores: availableParallelism(),
      catalogue: makeCatalogue(),
    });
  }

  /** The client is gone. Its runs continue. */
  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop();
    this.#subscriptions.clear();
    this.#linkEnds.close().catch(() => undefined); // nobody is left to be told
    this.#network.close();
    this.#intake?.close();
    for (const run of this.#unbegun) {
      run.abort(
        inputError('RUN_ABANDONED', 'the app ended before the run started').toData(),
      );
    }
  }

  /** Handles a message. Never throws: whatever a client sends concerns its own connection alone. */
  #handle(message: unknown): void {
    const id = requestId(message);
    if (id === undefined) {
      this.#socket.destroy(); // nothing that an answer could refer to
      return;
    }
    void this.#answer(id, message).catch(() => {
      this.#socket.destroy();
    });
  }

  async #answer(id: number, message: unknown): Promise<void> {
    try {
      const { method, body } = parseRequest(message);
      this.#send({ type: 'reply', id, body: await this.#obey(method, body) });
    } catch (error) {
      this.#send({ type: 'error', id, error: toErrorData(error) });
    }
  }

  #obey(method: SupervisorMethod, body: RequestMessage['body']): unknown {
    if (isPlainMethod(method)) {
      const handler = this.#handlers[method] as (request: typeof body) => unknown;
      return handler(body);
    }
    const { run, ...keys } = body as RequestBodies[AskedType];
    return this.#runs.order(run, { type: method, ...keys } as RunOrder);
  }

  /** A client that asks and does not read the answers is not heard until it does. */
  #awaitReader(): void {
    this.#socket.pause();
    void this.#drained().then(() => this.#socket.resume());
  }

  #makeHandlers(): Handlers {
    const runs = this.#runs;
    return {
      validate: async ({ allotted, spec, switches }) => {
        const parsed = parseExperimentSpec(spec);
        const known = await inspectSpec(parsed);
        const launch = validateLaunch(parsed, switches, known, { allotted });
        return { spec: launch.spec, switches: launch.switches };
      },
      prepare: async (request) => {
        const run =
          request.resume === undefined
            ? await this.#create(request)
            : runs.resume(request);
        this.#unbegun.add(run);
        try {
          if (run.beginsByItself) {
            await run.queued;
            this.#unbegun.delete(run);
            return { addresses: [], queued: true };
          }
          const addresses = await run.prepared;
          return {
            addresses: [...addresses].map(([rank, address]) => ({ rank, address })),
          };
        } catch (error) {
          this.#unbegun.delete(run);
          throw error;
        }
      },
      begin: ({ run: id, addresses }) => {
        const run = runs.find(id);
        const { ranks } = run.state.spec.world;
        if (addresses.length !== ranks) {
          throw unfit('begin', `${addresses.length} addresses for ${ranks} ranks`);
        }
        run.begin(addresses);
        for (const unbegun of this.#unbegun) {
          if (unbegun === run) this.#unbegun.delete(unbegun);
        }
        return {};
      },
      adopt: ({ run, switches }) => {
        runs.find(run).orders.adopt(switches);
        return {};
      },
      abort: ({ run, error }) => {
        runs.abort(run, error);
        return {};
      },
      subscribe: ({ run: id, after }) => {
        const run = runs.find(id);
        this.#subscribe(id, run, after);
        return { lastSequence: run.journal.durableSequence };
      },
      unsubscribe: ({ run }) => {
        this.#subscriptions.get(run)?.stop();
        this.#subscriptions.delete(run);
        return {};
      },
      acknowledge: ({ run, sequence }) => {
        runs.acknowledge(run, sequence);
        return {};
      },
      openLinkEnd: (request) => this.#linkEnds.open(request),
      timeLink: (request) => this.#linkEnds.time(request),
      closeLink: async ({ link }) => {
        await this.#linkEnds.close(link);
        return {};
      },
      measureNetwork: (request) => this.#network.measure(request),
      testJob: async ({ slurm: settings, ...asked }) => {
        await testJob({ ...asked, settings });
        return {};
      },
      missingFiles: ({ files }) => ({ missing: runs.trees.missing(files) }),
      putFiles: ({ pieces }) => {
        this.#intake ??= runs.trees.intake();
        this.#intake.put(pieces);
        return {};
      },
      makeTree: async ({ entries }) => ({ tree: await runs.trees.make(entries) }),
      ping: () => ({}),
      runs: () => ({ runs: runs.list() }),
    };
  }

  async #create(request: PrepareRequest): Promise<SupervisedRun> {
    const spec = parseExperimentSpec(request.spec);
    checkRanks(request, spec.world.ranks);
    const reading = inspectSpec(spec);
    const known = await this.#runs.reading(request.run, reading);
    if (this.#socket.destroyed) {
      throw inputError('RUN_ABANDONED', 'the app ended before the run started');
    }
    return this.#runs.create({ ...request, spec }, known);
  }

  #subscribe(id: string, run: SupervisedRun | RestoredRun, after: number): void {
    this.#subscriptions.get(id)?.stop();
    const subscription: Subscription = {
      run,
      sent: after,
      live: false,
      stop: run.follow({
        entries: (entries) => {
          if (!subscription.live) return;
          this.#send({ type: 'records', run: id, entries });
          subscription.sent = entries.at(-1)!.sequence;
          if (this.#socket.writableLength > BEHIND_BYTES) {
            subscription.live = false;
            void this.#drained().then(() => this.#catchUp(id, subscription));
          }
        },
        changed: () => {
          if (subscription.live) this.#send({ type: 'run', run: run.state });
        },
      }),
    };
    this.#subscriptions.set(id, subscription);
    void this.#catchUp(id, subscription);
  }

  /** Sends from the journal until the subscriber has everything, then live. */
  async #catchUp(id: string, subscription: Subscription): Promise<void> {
    const { run } = subscription;
    const current = (): boolean => this.#subscriptions.get(id) === subscription;
    let end: number;
    try {
      do {
        end = run.journal.durableSequence;
        for await (const entries of run.journal.readAfter(subscription.sent, end)) {
          if (!current() || this.#socket.destroyed) return;
          this.#send({ type: 'records', run: id, entries });
          subscription.sent = entries.at(-1)!.sequence;
          while (
            this.#socket.writableLength > BEHIND_BYTES &&
            !this.#socket.destroyed
          ) {
            await this.#drained();
          }
        }
        // It may have grown after its last record was read and before this goes on.
      } while (run.journal.durableSequence > end);
    } catch (error) {
      if (!current()) return;
      // A journal that cannot be read must not look like a run without records.
      this.#socket.destroy(error instanceof Error ? error : undefined);
      return;
    }
    subscription.live = true;
    this.#send({ type: 'run', run: run.state });
  }

  /**
   * Waits until the socket has drained or is closed. All callers share its listeners.
   */
  #drained(): Promise<void> {
    this.#draining ??= new Promise((resolve) => {
      const settle = (): void => {
        this.#socket.off('drain', settle).off('close', settle);
        this.#draining = undefined;
        resolve();
      };
      this.#socket.on('drain', settle).on('close', settle);
    });
    return this.#draining;
  }

  /**
   * Sends at the end of the next turn, after everything that has arrived was read: a client may have
   * left a request, such as a stop, and gone while this process was suspended, also in the middle of
   * this turn. A write to it fails and discards what was not read.
   */
  #send(message: FromSupervisor): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (!this.#isGathering) {
      this.#isGathering = true;
      socket.cork();
      setImmediate(() =>
        setImmediate(() => {
          this.#isGathering = false;
          socket.uncork();
        }),
      );
    }
    socket.write(encodeFrame(message));
  }
}

/** @throws GradwireError `REQUEST_INVALID`: ranks or places that the run does not have */
function checkRanks({ ranks, places }: PrepareRequest, worldRanks: number): void {
  const beyond = ranks.find((rank) => rank >= worldRanks);
  if (beyond !== undefined) {
    throw unfit('prepare', `ranks: ${beyond} is not one of ${worldRanks} ranks`);
  }
  if (places !== undefined && places.length !== worldRanks) {
    throw unfit('prepare', `places: ${places.length} places for ${worldRanks} ranks`);
  }
}

const unfit = (method: string, why: string): Error =>
  failure('REQUEST_INVALID', `${method}: ${why}`, {
    next: 'Use the same version of Gradwire everywhere. If you already do, report this as a bug.',
  });
