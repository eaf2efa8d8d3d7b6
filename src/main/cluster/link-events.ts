/** The events of a link to a node, and the patience of those who listen to them. */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';

/** Some ten seconds of pauses: a laptop that wakes has its network back by then. */
export const IDLE_ATTEMPTS = 8;

/** Limits of what a link does about a loss without an action of the user. */
export interface LinkPatience {
  /** Whether the user is there to be asked for what a log-in needs. */
  readonly mayAsk: boolean;
  /** Most time during which a lost machine is tried again; Infinity: for ever. */
  readonly lostMs: number;
  /** Most time without a sign of life from a connected machine; Infinity: for ever. */
  readonly silentMs: number;
}

/** The patience of the app: it stays open, and the user looks at it now and then. */
export const ENDLESS: LinkPatience = {
  mayAsk: false,
  lostMs: Infinity,
  silentMs: Infinity,
};

/** The events of one link, and what it asks of those who follow something over it. */
export interface LinkEvents {
  /** The state of a run there has changed. */
  run(run: RunStatus): void;
  /** Called after a lost connection has been restored. */
  restored(): Promise<void>;
  /**
   * Returns the most attempts of the app's own to restore a lost connection; Infinity: no
   * limit.
   */
  attempts(): number;
  /** Whether something is followed over it, so that its replacement connects at once. */
  followed(): boolean;
  /** Returns the limits of what is done about the loss of this link. */
  patience(): LinkPatience;
  /** An attempt to restore the connection failed; more follow. */
  trouble(error: ErrorData): void;
  /**
   * Called when the machine is not tried any more: it has refused, or is out of reach or
   * silent for too long. A later connection, whoever makes it, is reported as `restored`.
   */
  gaveUp(error: ErrorData): void;
  /**
   * A connected node gives no sign of life, for example because its supervisor is stopped;
   * without an error: it does again.
   */
  silent(error: ErrorData | undefined): void;
  /** Called now and then while it waits for the user, who may have changed the machine. */
  look(): void;
  /** Called when `state` changes. */
  changed(): void;
}
