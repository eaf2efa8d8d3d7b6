/** The links to nodes, made when they are first asked for. */
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { unknownNode } from './unknown-node.ts';
import type { LinkEvents } from './link-events.ts';
import type { NodeAccess } from './node-access.ts';
import { NodeLink } from './node-link.ts';

/** The current nodes; more may be added while links exist. */
export interface NodeDirectory {
  /** The default leading node of a run: this computer. */
  readonly lead: string;
  names(): readonly string[];
  /** Returns the way to a node; undefined if there is none of that name. */
  access(name: string): NodeAccess | undefined;
  /** The name now of a machine that had this one, if no machine has it. */
  renamedTo?(name: string): string | undefined;
}

export class NodeSet {
  readonly #directory: NodeDirectory;
  readonly #events: (link: () => NodeLink) => LinkEvents;
  readonly #links = new Map<string, NodeLink>();

  constructor(directory: NodeDirectory, events: (link: () => NodeLink) => LinkEvents) {
    this.#directory = directory;
    this.#events = events;
  }

  /** The links made so far. */
  [Symbol.iterator](): Iterator<NodeLink> {
    return this.#links.values();
  }

  get lead(): NodeLink {
    return this.named(this.#directory.lead);
  }

  /**
   * The nodes with ranks of a run; the first leads it and owns its plan switches.
   * @throws GradwireError `NODE_UNKNOWN`
   */
  of(spec: Pick<ExperimentSpec, 'world'>): readonly [NodeLink, ...NodeLink[]] {
    const [first, ...others] = nodesOf(spec).map((name) =>
      this.named(name, 'world.nodes'),
    );
    return [first!, ...others];
  }

  /** The link to a node, if it has been made. */
  made(name: string): NodeLink | undefined {
    return this.#links.get(name);
  }

  has(name: string): boolean {
    return this.#directory.names().includes(name);
  }

  /**
   * @param place where the name is written, if anywhere
   * @throws GradwireError `NODE_UNKNOWN`
   */
  named(name: string, place?: string): NodeLink {
    const known = this.#links.get(name);
    const access = this.#directory.access(name);
    if (known !== undefined && known.identity === access?.identity) {
      known.configure(access);
      return known;
    }
    // It was removed, has another route, or was added again as another machine.
    this.#links.delete(name);
    void known?.close();
    if (access === undefined) {
      throw unknownNode(name, {
        names: this.#directory.names(),
        renamedTo: this.#directory.renamedTo?.(name),
        place,
      });
    }
    const events = this.#events(() => link);
    const link: NodeLink = new NodeLink(access, events);
    this.#links.set(name, link);
    if (known !== undefined && events.followed()) link.takeOver();
    return link;
  }

  /** Handles nodes that have been changed or removed since their link was made. */
  look(): void {
    for (const name of [...this.#links.keys()]) {
      if (this.has(name)) this.named(name);
      else void this.drop(name);
    }
  }

  /** Closes the link to a node; the next use makes a new one. */
  async drop(name: string): Promise<void> {
    const link = this.#links.get(name);
    this.#links.delete(name);
    await link?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }
}
