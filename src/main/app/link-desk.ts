/** The links between machines as the app shows them, and their measurement, one at a time. */
import { failure } from '../../shared/errors/errors.ts';
import type {
  LinkCheckProgress,
  NetworkStatus,
  PairOutcome,
  WithinStatus,
} from '../../shared/machines/link-status.ts';
import { pairsOf } from '../cluster/link-check.ts';
import type { Inventory } from '../cluster/inventory.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { surveyLinks } from '../runs/link-survey.ts';
import { profilesOf } from '../runs/run-network.ts';
import type { RunStore } from '../store/run-store.ts';
import {
  networkCostOf,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';

export interface LinkDeskOptions {
  readonly store: RunStore;
  readonly inventory: Inventory;
  /** Returns this computer's profile, if it was measured. */
  readonly own: () => NetworkProfile | undefined;
  /** The link to a machine, which runs share. */
  readonly node: (name: string) => NodeLink;
  /** Called when the result of `status` changes. */
  readonly changed: () => void;
}

export class LinkDesk {
  readonly #options: LinkDeskOptions;
  #controller: AbortController | undefined;
  #measuring: Promise<void> | undefined;
  #progress: LinkCheckProgress | undefined;
  #passedOver: readonly PairOutcome[] = [];
  #shown = '';

  constructor(options: LinkDeskOptions) {
    this.#options = options;
  }

  status(): NetworkStatus {
    const { store, inventory } = this.#options;
    const nodes = inventory.linked().flatMap((name) => {
      const access = inventory.access(name);
      return access === undefined ? [] : [access];
    });
    const profiles = profilesOf(store.facts, nodes, this.#options.own());
    return {
      links: store.links.among(nodes),
      within: [...profiles].map(([node, profile]) => withinOf(node, profile)),
      progress: this.#progress,
      passedOver: this.#passedOver,
    };
  }

  /** Pushes changes after a command has measured or the machines have changed. */
  look(): void {
    if (this.#text() !== this.#shown) this.#changed();
  }

  /** @throws GradwireError `LINK_CHECK_BUSY` */
  measure(): Promise<void> {
    if (this.#measuring !== undefined) {
      throw failure('LINK_CHECK_BUSY', 'the network is already being measured', {
        next: 'Wait for it to finish, or cancel it.',
      });
    }
    this.#controller = new AbortController();
    this.#measuring = this.#measure(this.#controller.signal).finally(() => {
      this.#measuring = undefined;
      this.#progress = undefined;
      this.#changed();
    });
    return this.#measuring;
  }

  cancel(): void {
    this.#controller?.abort();
  }

  /** Cancels the measurement. */
  async close(): Promise<void> {
    this.cancel();
    await this.#measuring?.catch(() => undefined);
  }

  async #measure(signal: AbortSignal): Promise<void> {
    const { store, inventory, node } = this.#options;
    const names = inventory.linked();
    const pairs = pairsOf(names).length;
    const passedOver: PairOutcome[] = [];
    this.#passedOver = [];
    this.#note({ done: 0, pairs });
    const begins = (nodes: readonly [string, string], done: number): void => {
      this.#note({ done, pairs, nodes });
    };
    const survey = surveyLinks(store.links, names.map(node), { signal, begins });
    for await (const outcome of survey) {
      if (outcome.runs.length > 0) passedOver.push(outcome);
      this.#passedOver = [...passedOver];
      this.#changed();
    }
  }

  /** Returns as a text those measures that commands may have changed. */
  #text(): string {
    const { links, within } = this.status();
    return JSON.stringify([links, within]);
  }

  #note(progress: LinkCheckProgress): void {
    this.#progress = progress;
    this.#changed();
  }

  #changed(): void {
    this.#shown = this.#text();
    this.#options.changed();
  }
}

function withinOf(node: string, profile: NetworkProfile): WithinStatus {
  const { measuredAt, transport } = profile;
  const ranks = profile.nodes.length;
  const { alpha, beta } = networkCostOf(profile, ranks);
  return { node, ranks, alpha, beta, measuredAt, transport };
}
