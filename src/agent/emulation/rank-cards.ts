/**
 * The emulated cards of one rank: one for all its peers, and one for each node with a
 * different link, so that traffic to it has its own lines.
 */
import type {
  EmulatedLink,
  EmulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import { pairOf } from '../../shared/spec/emulated-links.ts';
import { EmulatedCard, type CardTimer } from './emulated-card.ts';
import type { Lane, Wire } from './lane.ts';
import { PeerClock } from './peer-clock.ts';

/** Puts a connection on its card. */
export interface LaneMaker {
  connect(wire: Wire): Lane;
}

export interface RankCardsOptions {
  readonly network: EmulatedNetwork;
  readonly rank: number;
  /** The name of each rank's node, by rank; default: all are on one. */
  readonly nodes?: readonly string[] | undefined;
  /** The timer that gives each card its turns. */
  readonly timer: (turn: () => void) => CardTimer;
}

export class RankCards {
  readonly #options: RankCardsOptions;
  readonly #cards = new Map<EmulatedLink, EmulatedCard>();

  constructor(options: RankCardsOptions) {
    this.#options = options;
  }

  /** The lane for a peer's traffic. */
  to(peer: number): LaneMaker {
    const { network, nodes = [], rank, timer } = this.#options;
    const [here = '', there = ''] = [nodes[rank], nodes[peer]];
    const link = pairOf(network, here, there) ?? network;
    const card = this.#cards.get(link) ?? new EmulatedCard(link, timer);
    this.#cards.set(link, card);
    return {
      connect: (wire) =>
        card.connect(wire, here === there ? undefined : new PeerClock()),
    };
  }
}
