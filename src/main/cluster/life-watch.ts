/**
 * Watches a connection for signs of life. If nothing arrives for a while, it asks for an
 * answer; if none comes, the node is silent until it answers again. Looks are counted, not
 * time: this process may have been suspended itself.
 */
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { ControlConnection } from './control-connection.ts';

/** Interval of looks at a connection on which nothing arrives. */
export const LIFE_MS = 5000;
/**
 * Looks at a quiet connection before it counts as silent. A busy machine is slow, not silent;
 * and a lost link is noticed by SSH before (20 s).
 */
export const PATIENT_LOOKS = 4;

export interface LifeEvents {
  /** Asks a supervisor of this version for a sign of life; any answer will do, even a late one. */
  ask(): void;
  /** Called when the node falls silent, with the reason, and without one when it answers again. */
  silent(error: GradwireError | undefined): void;
  /** Most time for the node to be silent; after that `gaveUp` is called, once. */
  patienceMs(): number;
  gaveUp(error: GradwireError): void;
}

export class LifeWatch {
  readonly #connection: ControlConnection;
  readonly #name: string;
  readonly #events: LifeEvents;
  readonly #timer: NodeJS.Timeout;
  #heard: number;
  #looks = 0;
  #isSilent = false;
  #hasGivenUp = false;

  /** @param name the node's, for errors */
  constructor(connection: ControlConnection, name: string, events: LifeEvents) {
    this.#connection = connection;
    this.#name = name;
    this.#events = events;
    this.#heard = connection.heard;
    this.#timer = setInterval(() => {
      this.#look();
    }, LIFE_MS);
  }

  /** Something has arrived: a node that was silent is not any more. */
  arrived(): void {
    if (this.#isSilent) this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { heard } = this.#connection;
    if (heard !== this.#heard) {
      this.#heard = heard;
      this.#looks = 0;
      this.#hasGivenUp = false;
      if (this.#isSilent) this.#events.silent(undefined);
      this.#isSilent = false;
      return;
    }
    this.#looks++;
    if (this.#looks === 1) this.#ask();
    if (this.#looks <= PATIENT_LOOKS) return;
    if (!this.#isSilent) {
      this.#isSilent = true;
      this.#events.silent(this.#silence(PATIENT_LOOKS));
    }
    if (this.#hasGivenUp || this.#looks * LIFE_MS <= this.#events.patienceMs()) return;
    this.#hasGivenUp = true;
    this.#events.gaveUp(this.#silence(this.#looks));
  }

  /** A supervisor of another version answers little else. */
  #ask(): void {
    if (this.#connection.readsOnly) void askForRuns(this.#connection);
    else this.#events.ask();
  }

  #silence(looks: number): GradwireError {
    const { pid } = this.#connection.hello;
    const seconds = (looks * LIFE_MS) / 1000;
    return failure(
      'SUPERVISOR_TIMEOUT',
      `its supervisor (process ${pid}) has given no sign of life for ${seconds} s`,
      {
        place: this.#name,
        next:
          'This ends no run. Check that the machine is not overloaded and that the process is ' +
          `not stopped (kill -CONT ${pid} continues it).`,
      },
    );
  }
}

async function askForRuns(connection: ControlConnection): Promise<void> {
  try {
    await connection.request('runs', {});
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
  }
}
