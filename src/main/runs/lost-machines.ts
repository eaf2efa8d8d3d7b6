/**
 * Decides about runs whose machines are out of reach: how long each is tried, and when a command
 * leaves its run, because no machine is left that could tell its end. The app waits for its user.
 */
import { type ErrorData } from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import { ENDLESS, IDLE_ATTEMPTS, type LinkPatience } from '../cluster/link-events.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { GivenUpNodes } from './given-up-nodes.ts';

/**
 * Most time that a command waits for a machine that is out of reach: through a night, but not
 * for ever.
 */
const LOST_MS = 24 * 3600 * 1000;

export class LostMachines {
  readonly #parts: CoordinatorParts;
  readonly #givenUp = new GivenUpNodes();
  /** Runs that wait for all of their machines. */
  readonly #interrupted = new Set<string>();

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /** Takes back a machine that answers again. */
  answers(link: NodeLink): void {
    this.#givenUp.forget(link.name);
  }

  /** Notes that a run waits for all of its machines, to resume on them. */
  interrupted(run: string): void {
    this.#interrupted.add(run);
    this.considerLeaving(run);
  }

  /** Notes that an interrupted run goes on. */
  goesOn(run: string): void {
    this.#interrupted.delete(run);
  }

  /** Attempts to reach a machine: endless for one that a run needs, else a few, and only by the app. */
  attempts(link: NodeLink): number {
    if (this.#parts.recovery.needs(link)) return Infinity;
    return this.#parts.scope === 'all' ? IDLE_ATTEMPTS : 0;
  }

  /** The times for which a machine may be lost or silent before a command gives it up. */
  patience(link: NodeLink): LinkPatience {
    if (this.#parts.scope === 'all') return ENDLESS;
    const runs = [
      ...this.#parts.followers.ids(link),
      ...this.#parts.launches.startingOn(link.name),
    ];
    const patience = runs.map((run) => this.#parts.store.spec(run).patienceSeconds);
    return {
      mayAsk: this.#parts.mayAsk,
      lostMs: LOST_MS,
      silentMs: Math.max(0, ...patience) * 1000,
    };
  }

  /** The app waits for its user; a command ends when nothing else can tell its run's end. */
  gaveUp(link: NodeLink, error: ErrorData): void {
    if (this.#parts.scope === 'all') {
      if (this.#parts.recovery.needs(link))
        this.#parts.news.linkTrouble(link, waiting(error, link.name));
      // Another process may have changed the machine's route.
      this.#parts.nodes.look();
      return;
    }
    this.#givenUp.note(link.name, error);
    const left = this.#parts.endings.awaited.filter((run) => this.considerLeaving(run));
    // A caller that follows a run, or starts one, gets the error from that call instead.
    const isStarting = this.#parts.launches.startingOn(link.name).length > 0;
    this.#parts.launches.giveUp(link.name, error);
    if (left.length === 0 && !isStarting)
      this.#parts.news.linkTrouble(link, leftOut(error, link.name));
  }

  /** @returns whether the run is not followed any longer */
  considerLeaving(id: string): boolean {
    const { open, failure: cause } = this.#parts.store.journals.endings(id);
    // A run that has failed is ended soon with what is known.
    if (cause !== undefined) return false;
    const verdict = this.#givenUp.verdict({
      id,
      nodes: nodesOf(this.#parts.store.spec(id)),
      open,
      interrupted: this.#interrupted.has(id),
    });
    if (verdict !== undefined) this.#parts.endings.leave(id, verdict);
    return verdict !== undefined;
  }

  /** Considers leaving a run some of whose journals have ended without the run's own end. */
  considerUntold(id: string): void {
    if (this.#givenUp.isEmpty) return;
    if (this.#parts.store.journals.endings(id).someEnded) this.considerLeaving(id);
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
