/**
 * Main's end of the control protocol over one stream: waits for the supervisor's hello,
 * matches replies to requests by id, and pushed records to who follows their journal. Every
 * request has a deadline; when the stream ends, all pending requests fail with
 * `SUPERVISOR_LOST`.
 */
import type { Duplex } from 'node:stream';
import { saysClosed } from '../ssh/closed-connection.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { HERE } from '../../shared/machines/machine-names.ts';
import { parseRecord } from '../../shared/records/record-kinds.ts';
import { encodeFrame, FrameDecoder } from '../../shared/protocol/frame.ts';
import { parseReply } from '../../shared/protocol/replies.ts';
import {
  parseFromSupervisor,
  isReading,
  PROTOCOL_VERSION,
  READING_VERSION,
  type FromSupervisor,
  type PushMessage,
  type RequestMessage,
  type RunStatus,
  type SupervisorHello,
  type SupervisorMethod,
  type SupervisorRequests,
} from '../../shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';

/**
 * Deadlines end what hangs, so they are generous: on a crowded machine a process may
 * wait seconds for its turn.
 */
export const HELLO_DEADLINE_MS = 20_000;
/** Most time for the other side to close after us. */
const CLOSE_DEADLINE_MS = 500;
const REQUEST_DEADLINE_MS = 30_000;
const CLOSED = 'the connection was closed';

/** Follows one journal. */
export interface JournalReader {
  /** Takes entries as they arrive, in order. */
  push(entries: readonly JournalEntry[]): void;
  /**
   * The supervisor has taken the subscription. Entries that came before may be of an earlier one,
   * and begin anywhere.
   */
  subscribed(): void;
}

export interface ConnectionHandlers {
  /** Called with everything that the supervisor says of its own accord. */
  pushed?(): void;
  /** The state of a run has changed. */
  run(run: RunStatus): void;
  /** Called once, when the stream has ended for any reason other than `close`. */
  lost(error: GradwireError): void;
}

interface Waiting {
  readonly method: SupervisorMethod;
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}

export class ControlConnection {
  readonly hello: SupervisorHello;
  readonly #stream: Duplex;
  /** The machine, for errors in what it says. */
  readonly place: string;
  readonly #handlers: ConnectionHandlers;
  readonly #waiting = new Map<number, Waiting>();
  /** Followers of journals, by run. */
  readonly #readers = new Map<string, JournalReader>();
  readonly #closed: Promise<void>;
  #nextId = 1;
  #heard = 0;
  #end: GradwireError | undefined;

  private constructor(
    stream: Duplex,
    place: string,
    hello: SupervisorHello,
    handlers: ConnectionHandlers,
  ) {
    this.#stream = stream;
    this.place = place;
    this.hello = hello;
    this.#handlers = handlers;
    this.#closed = new Promise((resolve) => stream.once('close', resolve));
  }

  /**
   * Waits for the hello on a new stream, and takes the stream over.
   * @param place the machine, for errors; default: this computer
   * @param deadlineMs how long the hello may take
   * @throws GradwireError `PROTOCOL_MISMATCH`, `SUPERVISOR_LOST`, `SUPERVISOR_TIMEOUT`
   */
  static open(
    stream: Duplex,
    handlers: ConnectionHandlers,
    place?: string,
    deadlineMs = HELLO_DEADLINE_MS,
  ): Promise<ControlConnection> {
    const machine = place ?? HERE;
    return new Promise((resolve, reject) => {
      const decoder = new FrameDecoder();
      let connection: ControlConnection | undefined;
      const fail = (error: GradwireError): void => {
        clearTimeout(deadline);
        if (connection === undefined) reject(error);
        else connection.#lose(error);
        stream.destroy();
      };
      const deadline = setTimeout(() => {
        fail(
          failure(
            'SUPERVISOR_TIMEOUT',
            `no greeting from the supervisor within ${HELLO_DEADLINE_MS / 1000} s`,
            {
              ...(place === undefined ? {} : { place }),
              next: 'Check that the machine is not overloaded and that its "gradwire supervisor" process is not stopped; ending that process ends its runs.',
            },
          ),
        );
      }, deadlineMs);
      stream.on('data', (chunk: Uint8Array) => {
        if (connection !== undefined) connection.#heard++;
        try {
          for (const raw of decoder.push(chunk)) {
            const message = parseFromSupervisor(raw, machine);
            if (connection !== undefined) connection.#receive(message);
            else {
              const hello = checkHello(message, machine);
              clearTimeout(deadline);
              connection = new ControlConnection(stream, machine, hello, handlers);
              resolve(connection);
            }
          }
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          fail(placed(error, machine));
        }
      });
      stream.on('error', (cause) => {
        fail(lost(saysClosed(cause) ? CLOSED : cause.message));
      });
      stream.on('close', () => {
        fail(lost(CLOSED));
      });
    });
  }

  /** Grows with everything that arrives. */
  get heard(): number {
    return this.#heard;
  }

  /** Whether it has another version: then its runs can only be watched and stopped. */
  get readsOnly(): boolean {
    return this.hello.protocol !== PROTOCOL_VERSION;
  }

  /**
   * @param answered called when the answer arrives, before what comes after it is looked at
   * @throws GradwireError the supervisor's own error, `SUPERVISOR_TIMEOUT`,
   * `SUPERVISOR_LOST`, `SUPERVISOR_OTHER_VERSION`
   */
  request<M extends SupervisorMethod>(
    method: M,
    body: RequestMessage<M>['body'],
    deadlineMs = REQUEST_DEADLINE_MS,
    answered?: () => void,
  ): Promise<SupervisorRequests[M]['reply']> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.readsOnly && !isReading(method)) {
      return Promise.reject(otherVersion(this.place, this.hello));
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const deadline = setTimeout(() => {
        this.#waiting.delete(id);
        reject(
          failure('SUPERVISOR_TIMEOUT', `no answer to ${method} in ${deadlineMs} ms`, {
            place: this.place,
            next: 'Check that the machine is not overloaded, and read the supervisor’s log: gradwire nodes log NAME.',
          }),
        );
      }, deadlineMs);
      this.#waiting.set(id, {
        method,
        resolve: (reply) => {
          answered?.();
          resolve(reply as SupervisorRequests[M]['reply']);
        },
        reject,
        deadline,
      });
      const message: RequestMessage<M> = { type: 'request', id, method, body };
      this.#stream.write(encodeFrame(message));
    });
  }

  /**
   * Hands the entries of a run's journal after a sequence to this reader alone.
   * @returns the journal's end at this time
   * @throws GradwireError as `request` does
   */
  async subscribe(run: string, after: number, reader: JournalReader): Promise<number> {
    this.#readers.set(run, reader);
    const body = { run, after };
    const reply = await this.request('subscribe', body, REQUEST_DEADLINE_MS, () => {
      reader.subscribed();
    });
    return reply.lastSequence;
  }

  /** Hands this reader no further entries of the run. */
  leave(run: string, reader: JournalReader): void {
    if (this.#readers.get(run) === reader) this.#readers.delete(run);
  }

  /**
   * Ends the connection: sent messages arrive, pending requests fail. Resolves when it
   * is closed.
   */
  async close(): Promise<void> {
    this.#finish(lost(CLOSED));
    this.#stream.end();
    const patience = setTimeout(() => this.#stream.destroy(), CLOSE_DEADLINE_MS);
    await this.#closed;
    clearTimeout(patience);
  }

  #receive(message: FromSupervisor): void {
    switch (message.type) {
      case 'reply':
        this.#answer(message.id, message.body);
        return;
      case 'error':
        this.#take(message.id)?.reject(new GradwireError(message.error));
        return;
      case 'records':
      case 'run':
        if (this.#end === undefined) this.#push(message);
        return;
      case 'hello':
        throw failure('PROTOCOL_MISMATCH', 'a second hello arrived on one connection', {
          place: this.place,
        });
      default:
        message satisfies never;
    }
  }

  /** A reply that is none concerns its request alone. */
  #answer(id: number, body: unknown): void {
    const waiting = this.#take(id);
    if (waiting === undefined) return;
    try {
      waiting.resolve(parseReply(waiting.method, body, this.place));
    } catch (error) {
      waiting.reject(error as Error);
    }
  }

  #push(message: PushMessage): void {
    this.#handlers.pushed?.();
    if (message.type === 'run') return this.#handlers.run(message.run);
    const { entries, run } = message;
    this.#readers.get(run)?.push(this.readsOnly ? entries.map(readable) : entries);
  }

  /** The pending request; undefined after its deadline. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(waiting.deadline);
    return waiting;
  }

  #lose(error: GradwireError): void {
    if (this.#end !== undefined) return;
    this.#finish(error);
    this.#handlers.lost(error);
  }

  #finish(error: GradwireError): void {
    this.#end ??= error;
    for (const { reject, deadline } of this.#waiting.values()) {
      clearTimeout(deadline);
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** The error with the machine that sent what caused it. */
const placed = (error: GradwireError, place: string): GradwireError =>
  new GradwireError({ place, ...error.toData() }, { cause: error });

function checkHello(hello: FromSupervisor, place: string): SupervisorHello {
  if (hello.type !== 'hello') {
    throw failure('PROTOCOL_MISMATCH', `${hello.type} came before the hello`, {
      place,
    });
  }
  const { protocol, reading = 1 } = hello;
  if (protocol !== PROTOCOL_VERSION && reading !== READING_VERSION) {
    throw failure(
      'PROTOCOL_MISMATCH',
      `the supervisor (process ${hello.pid}, version ${hello.version}) speaks protocol ` +
        `${hello.protocol}, but this Gradwire speaks ${PROTOCOL_VERSION}`,
      {
        next: `Wait for its runs to end, or stop them with Gradwire ${hello.version}, then try again.`,
      },
    );
  }
  return hello;
}

/** Replaces a record that only another version knows, which must not end its run. */
function readable(entry: JournalEntry): JournalEntry {
  const { at, type } = entry.record;
  try {
    parseRecord(entry.record);
    return entry;
  } catch {
    return {
      ...entry,
      record: {
        type: 'notice',
        level: 'info',
        code: 'RECORD_UNKNOWN',
        at: typeof at === 'number' ? at : Date.now(),
        message: `received a record of type "${type}", unknown to this version of Gradwire`,
      },
    };
  }
}

/** @param run a run that keeps the supervisor there */
export function otherVersion(
  machine: string,
  { version, pid }: Pick<SupervisorHello, 'version' | 'pid'>,
  run?: string,
): GradwireError {
  const why =
    run === undefined ? 'another app uses it' : `run ${run} is in progress there`;
  return failure(
    'SUPERVISOR_OTHER_VERSION',
    `the supervisor on ${machine} (process ${pid}) has version ${version}, and ${why}: ` +
      'its runs can only be watched and stopped',
    {
      place: machine,
      next: `Wait for its runs to end, or use Gradwire ${version}.`,
    },
  );
}

function lost(reason: string): GradwireError {
  return failure('SUPERVISOR_LOST', `lost the supervisor: ${reason}`, {
    next: 'Runs continue without it; "gradwire runs list" finds them again.',
  });
}
