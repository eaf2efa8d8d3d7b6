/** The nodes there are, by name. The first is the lead where no run says otherwise. */
import { inputError } from '../../shared/errors.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { nearest } from '../../shared/nearest.ts';
import { NodeLink, type LinkEvents, type NodeAccess } from './node-link.ts';

export class NodeSet {
  readonly #links = new Map<string, NodeLink>();

  constructor(
    nodes: readonly NodeAccess[],
    events: (link: () => NodeLink) => LinkEvents,
  ) {
    for (const access of nodes) {
      const link: NodeLink = new NodeLink(
        access,
        events(() => link),
      );
      this.#links.set(access.name, link);
    }
  }

  [Symbol.iterator](): Iterator<NodeLink> {
    return this.#links.values();
  }

  get lead(): NodeLink {
    return this.#links.values().next().value!;
  }

  /**
   * The nodes of a run; the first leads it and owns its plan switches.
   * @throws GradwireError `NODE_UNKNOWN`
   */
  of(spec: ExperimentSpec): readonly [NodeLink, ...NodeLink[]] {
    const [first, ...others] = spec.world.nodes.map((name) => this.#named(name));
    return [first!, ...others];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  #named(name: string): NodeLink {
    const link = this.#links.get(name);
    if (link !== undefined) return link;
    const suggestion = nearest(name, this.#links.keys());
    throw inputError('NODE_UNKNOWN', `there is no node "${name}"`, {
      place: 'world.nodes',
      next:
        suggestion === undefined
          ? `Nodes: ${[...this.#links.keys()].join(', ')}.`
          : `Did you mean "${suggestion}"?`,
    });
  }
}
