/**
 * Stops of runs, however far they have got: a start in progress is ended, a run in progress
 * is asked to end after its current iteration. A machine that gives no sign of life is not
 * waited for: it obeys once it answers again.
 */
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { OrderOf } from '../../shared/orders/orders.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { NodeConnection } from '../../shared/machines/node-status.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { stopDeadline } from '../cluster/stop-deadline.ts';

export class RunStops {
  readonly #starting = new Map<string, AbortController>();
  /** Functions that end the wait for an answer, by the machine that was asked. */
  readonly #waiting = new Map<NodeLink, Set<(error: GradwireError) => void>>();

  /**
   * A start that a stop may end.
   * @param start must end when the signal aborts before any machine was asked for ranks
   * @throws GradwireError the reason why it did not start: `RUN_STOPPED`
   */
  async starting(
    id: string,
    start: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const controller = new AbortController();
    this.#starting.set(id, controller);
    try {
      await start(controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? stoppedAtStart() : error;
    } finally {
      this.#starting.delete(id);
    }
  }

  /**
   * Resolves when the run has ended, or its start has been told to.
   * @param links to its machines, the leading one first
   * @param now whether its processes are ended, on each machine
   * @param received called when the machine that is asked is known to have the request
   */
  async stop(
    id: string,
    links: readonly [NodeLink, ...NodeLink[]],
    spec: ExperimentSpec,
    now: boolean,
    received?: () => void,
  ): Promise<void> {
    const order: OrderOf<'stop'> = { type: 'stop', ...(now && { now }) };
    const deadline = stopDeadline(spec);
    const start = this.#starting.get(id);
    const first = links.find(({ state }) => isThere(state)) ?? links[0];
    start?.abort();
    const connected = links.filter(({ connection }) => connection !== undefined);
    const others = now ? connected.filter((link) => link !== first) : [];
    const asked = start === undefined ? others : connected;
    const told = asked.map(async (link) => {
      try {
        await this.#ask(link, id, order, deadline);
      } catch (error) {
        // It was not asked for ranks yet, and will not be; or it has lost those of the others.
        if (!(error instanceof GradwireError)) throw error;
      }
    });
    // Asking one node's ranks suffices where all ranks agree on the stop.
    if (start === undefined) await this.#ask(first, id, order, deadline, received);
    await Promise.all(told);
  }

  /** A connected machine gives no sign of life. */
  silent(link: NodeLink, error: ErrorData): void {
    for (const give of this.#waiting.get(link) ?? []) give(new GradwireError(error));
  }

  async #ask(
    link: NodeLink,
    run: string,
    order: OrderOf<'stop'>,
    deadline: number,
    received?: () => void,
  ): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const known = link.state.silence?.error;
    const waiting = this.#waiting.get(link) ?? new Set();
    this.#waiting.set(link, waiting.add(reject));
    // Sent to a silent machine, too: it obeys once it answers again.
    const answer = link.order(run, order, deadline);
    if (known !== undefined) reject(new GradwireError(known));
    if (received !== undefined) void confirm(link, received);
    try {
      await Promise.race([answer, promise]);
    } finally {
      waiting.delete(reject);
    }
  }
}

/** Whether it would hear a request now. */
export const isThere = (state: NodeConnection): boolean =>
  state.connection === 'connected' && state.silence === undefined;

/** Requests are taken in order: a later one that is answered shows that it has those before. */
async function confirm(link: NodeLink, received: () => void): Promise<void> {
  try {
    await link.request('runs', {});
    received();
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
  }
}

function stoppedAtStart(): GradwireError {
  return failure('RUN_STOPPED', 'the run was stopped before it started');
}
