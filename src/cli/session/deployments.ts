/**
 * Deployments that a command needs, such as one to the machines of a run: their steps are
 * printed, and Ctrl-C cancels them, so that nothing is left half uploaded.
 */
import type { DeployListener } from '../../main/cluster/remote-node.ts';
import { deployPrinter } from '../text/deploy-progress.ts';
import { reportError } from '../text/report-error.ts';

const EXIT_INTERRUPTED = 130;

export class Deployments implements Disposable {
  readonly #print = deployPrinter({ brief: true });
  /** Cancels the deployments that are under way. */
  readonly #cancels = new Set<() => void>();
  #cancelled = false;
  #listens = false;

  readonly progress: DeployListener = (node, progress, cancel) => {
    this.#print(node, progress);
    if (progress === undefined) this.#cancels.delete(cancel);
    else this.#cancels.add(cancel);
    // Stays to the end: Node drops a signal that arrives just before its last listener is
    // removed, even if another one is added at once.
    if (!this.#listens) process.on('SIGINT', this.#interrupt);
    this.#listens = true;
  };

  /** Cancels all of them. @returns false if there is none */
  cancel(): boolean {
    for (const cancel of this.#cancels) cancel();
    this.#cancelled ||= this.#cancels.size > 0;
    return this.#cancels.size > 0;
  }

  /** The exit code of work that may need deployments; if one was cancelled, 130. */
  async exitCodeOf(work: () => Promise<number>): Promise<number> {
    try {
      return await work();
    } catch (error) {
      if (!this.#cancelled) throw error;
      reportError(error);
      return EXIT_INTERRUPTED;
    }
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (this.cancel() || process.listenerCount('SIGINT') > 1) return;
    // Between deployments Ctrl-C ends the command, as it does without a listener.
    process.off('SIGINT', this.#interrupt);
    process.kill(process.pid, 'SIGINT');
  };
}
