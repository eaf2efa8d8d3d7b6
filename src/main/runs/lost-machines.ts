/**
 * Decides about runs whose machines are out of reach: how long each is tried, and when a command
 * leaves its run, because no machine is left that could tell its end. The app waits for its user.
 */
import { type ErrorData } from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import {
  ENDLESS,
  IDLE_ATTEMPTS,
  type LinkPatience,
  type NodeLink,
} from '../cluster/node-link.ts';
import type { RunStore } from '../store/run-store.ts';
import { GivenUpNodes } from './given-up-nodes.ts';
import type { RunEndings } from './run-endings.ts';
import type { RunFollowers } from './run-followers.ts';

/**
 * Most time that a command waits for a machine that is out of reach: through a night, but not
 * for ever.
 */
const LOST_MS = 24 * 3600 * 1000;

export interface LostMachinesOptions {
  readonly store: RunStore;
  readonly scope: 'all' | 'own';
  /** Whether the user may be asked for a log-in when a link was lost. */
  readonly mayAsk: boolean;
  readonly followers: RunFollowers;
  readonly endings: RunEndings;
  /** Whether a run needs the machine. */
  needs(link: NodeLink): boolean;
  /** Reports a machine's failure. */
  trouble(link: NodeLink, error: ErrorData): void;
  /** Looks whether machines have been changed or removed. */
  look(): void;
}

export class LostMachines {
  readonly #options: LostMachinesOptions;
  readonly #givenUp = new GivenUpNodes();
  /** Runs that wait for all of their machines. */
  readonly #interrupted = new Set<string>();

  constructor(options: LostMachinesOptions) {
    this.#options = options;
  }

  /** The machine answers again. */
  answers(link: NodeLink): void {
    this.#givenUp.forget(link.name);
  }

  /** The run waits for all of its machines. */
  interrupted(run: string): void {
    this.#interrupted.add(run);
    this.considerLeaving(run);
  }

  /** The run goes on. */
  goesOn(run: string): void {
    this.#interrupted.delete(run);
  }

  /** A run's machine is waited for; an idle one is left after a while, by the app. */
  attempts(link: NodeLink): number {
    if (this.#options.needs(link)) return Infinity;
    return this.#options.scope === 'all' ? IDLE_ATTEMPTS : 0;
  }

  /** The times for which a machine may be lost or silent before a command gives it up. */
  patience(link: NodeLink): LinkPatience {
    if (this.#options.scope === 'all') return ENDLESS;
    const patience = this.#options.followers
      .ids(link)
      .map((run) => this.#options.store.spec(run).patienceSeconds);
    return {
      mayAsk: this.#options.mayAsk,
      lostMs: LOST_MS,
      silentMs: Math.max(0, ...patience) * 1000,
    };
  }

  /** The app waits for its user; a command ends when nothing else can tell its run's end. */
  gaveUp(link: NodeLink, error: ErrorData): void {
    if (this.#options.scope === 'all') {
      if (this.#options.needs(link))
        this.#options.trouble(link, waiting(error, link.name));
      // Another process may have changed the machine's route.
      this.#options.look();
      return;
    }
    this.#givenUp.note(link.name, error);
    const left = this.#options.endings.awaited.filter((run) =>
      this.considerLeaving(run),
    );
    // Whoever follows a run that is left is told by its end.
    if (left.length === 0) this.#options.trouble(link, leftOut(error, link.name));
  }

  /** @returns whether the run is not followed any longer */
  considerLeaving(id: string): boolean {
    const { open, failure: cause } = this.#options.store.openJournals(id);
    // It has failed, and is ended soon with what is known.
    if (cause !== undefined) return false;
    const verdict = this.#givenUp.verdict({
      id,
      nodes: nodesOf(this.#options.store.spec(id)),
      open,
      interrupted: this.#interrupted.has(id),
    });
    if (verdict !== undefined) this.#options.endings.leave(id, verdict);
    return verdict !== undefined;
  }

  /** Considers leaving a run whose followed machines have ended without saying how it did. */
  considerUntold(id: string): void {
    if (this.#givenUp.isEmpty) return;
    if (this.#options.store.openJournals(id).someEnded) this.considerLeaving(id);
  }
}

/** Advises in the app, where the user may look at the machine at any time. */
function waiting(error: ErrorData, name: string): ErrorData {
  const next =
    `${error.next ?? ''} Gradwire does not try again until you check ${name} in the app, ` +
    'launch a run there, or use gradwire runs attach.';
  return { ...error, next: next.trim() };
}

/** Advises in a command that goes on with the run's other machines. */
function leftOut(error: ErrorData, name: string): ErrorData {
  const next =
    `${error.next ?? ''} ${name} is not tried any more; the run is followed on its other ` +
    'machines. Get the rest afterwards with: gradwire runs attach last.';
  return { ...error, next: next.trim() };
}
