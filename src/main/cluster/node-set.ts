/** The links to nodes, made when they are first asked for. */
import { nodesOf, type ExperimentSpec } from '../../shared/experiment-spec.ts';
import { unknownNode } from '../../shared/unknown-node.ts';
import { NodeLink, type LinkEvents, type NodeAccess } from './node-link.ts';

/** The nodes there are, as they are now: others may be added while links stand. */
export interface NodeDirectory {
  /** The node where a run is led that says nothing else: this computer. */
  readonly lead: string;
  names(): readonly string[];
  /** How a node is reached; undefined where there is none of that name. */
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

  /** Those that have been asked for. */
  [Symbol.iterator](): Iterator<NodeLink> {
    return this.#links.values();
  }

  get lead(): NodeLink {
    return this.named(this.#directory.lead);
  }

  /**
   * The nodes that have ranks of a run; the first leads it and owns its plan switches.
   * @throws GradwireError `NODE_UNKNOWN`
   */
  of(spec: Pick<ExperimentSpec, 'world'>): readonly [NodeLink, ...NodeLink[]] {
    const [first, ...others] = nodesOf(spec).map((name) =>
      this.named(name, 'world.nodes'),
    );
    return [first!, ...others];
  }

  has(name: string): boolean {
    return this.#directory.names().includes(name);
  }

  /**
   * @param place where the name stands, if it is part of something
   * @throws GradwireError `NODE_UNKNOWN`
   */
  named(name: string, place?: string): NodeLink {
    const known = this.#links.get(name);
    const access = this.#directory.access(name);
    if (known !== undefined && known.identity === access?.identity) {
      known.configure(access);
      return known;
    }
    // Removed since, or reached by another way, or added anew as another machine.
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

  /** Takes note of nodes that have been changed or removed since they were asked for. */
  look(): void {
    for (const name of [...this.#links.keys()]) {
      if (this.has(name)) this.named(name);
      else void this.drop(name);
    }
  }

  /** Closes the link to a node; it is made anew when it is asked for. */
  async drop(name: string): Promise<void> {
    const link = this.#links.get(name);
    this.#links.delete(name);
    await link?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }
}
