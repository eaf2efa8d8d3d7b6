/** The machines and the open questions, as reported by the host. */
import type { NetworkStatus } from '../../../shared/machines/link-status.ts';
import type { NodeStatus } from '../../../shared/machines/node-status.ts';
import type {
  OpenQuestion,
  QuestionAnswer,
} from '../../../shared/machines/ssh-question.ts';
import type { Connection } from '../host/host-connection.ts';
import type { Toasts } from '../page/toasts.svelte.ts';

export class ClusterState {
  readonly #connection: Connection;
  readonly #toasts: Toasts;
  #nodes = $state.raw<readonly NodeStatus[]>();
  #network = $state.raw<NetworkStatus>();
  #questions = $state.raw<readonly OpenQuestion[]>([]);
  readonly #stops: readonly (() => void)[];

  constructor(connection: Connection, toasts: Toasts) {
    this.#connection = connection;
    this.#toasts = toasts;
    this.#stops = [
      connection.on('nodesChanged', (nodes) => {
        this.#nodes = nodes;
      }),
      connection.on('networkChanged', (network) => {
        this.#network = network;
      }),
      connection.on('questionsChanged', (questions) => {
        this.#questions = questions;
      }),
    ];
  }

  /** All machines, this computer first; undefined until they are known. */
  get nodes(): readonly NodeStatus[] | undefined {
    return this.#nodes;
  }

  /** The links between them; undefined until they are known. */
  get network(): NetworkStatus | undefined {
    return this.#network;
  }

  /** The question to show now. */
  get question(): OpenQuestion | undefined {
    return this.#questions[0];
  }

  /** Requests everything from the host again. */
  async load(): Promise<void> {
    const { api } = this.#connection;
    // Each answer is taken when it comes: an event after it is newer.
    await Promise.all([
      this.try(async () => {
        this.#nodes = await api.nodes();
      }),
      this.try(async () => {
        this.#network = await api.network();
      }),
      this.try(async () => {
        this.#questions = await api.questions();
      }),
    ]);
  }

  async answer(question: OpenQuestion, answer: QuestionAnswer): Promise<void> {
    await this.try(() => this.#connection.api.answer(question.id, answer));
  }

  /** Runs an action and shows its error. @returns whether it succeeded */
  async try(action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.#toasts.error(error);
      return false;
    }
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}
