/**
 * Machines that a command has given up: it does not try to reach them any more. A run is
 * followed as long as another machine may still tell how it ends.
 */
import { failure, formatError, type ErrorData } from '../../shared/errors/errors.ts';

/** A run as far as its machines matter. */
export interface FollowedRun {
  readonly id: string;
  /** All of its machines. */
  readonly nodes: readonly string[];
  /** Nodes whose journal of the run has not ended. */
  readonly open: readonly string[];
  /** Whether it waits for all of its machines, to resume on them. */
  readonly interrupted: boolean;
}

export class GivenUpNodes {
  readonly #errors = new Map<string, ErrorData>();

  get isEmpty(): boolean {
    return this.#errors.size === 0;
  }

  note(node: string, error: ErrorData): void {
    this.#errors.set(node, error);
  }

  /** Takes back a machine that answers again. */
  forget(node: string): void {
    this.#errors.delete(node);
  }

  /** Returns why the run cannot be followed any longer; undefined while it can. */
  verdict({ id, nodes, open, interrupted }: FollowedRun): ErrorData | undefined {
    const needed = interrupted ? nodes : open;
    const lost = needed.filter((node) => this.#errors.has(node));
    const isLeft = interrupted
      ? lost.length > 0
      : lost.length > 0 && lost.length === open.length;
    if (!isLeft) return undefined;
    const [node] = lost;
    return unfollowed(id, this.#errors.get(node!)!, node);
  }
}

/**
 * The end of a command whose run may go on without it.
 * @param place the machine, or where the cause is
 */
export function unfollowed(
  id: string,
  cause: ErrorData,
  place = cause.place,
): ErrorData {
  return failure(
    'RUN_UNFOLLOWED',
    `run ${id} cannot be followed any longer: ${formatError(cause)}`,
    {
      place,
      next: `The run may go on. Follow it again with: gradwire runs attach ${id}.`,
    },
  ).toData();
}
