/**
 * The network as a run knows it: the constants that it was launched with, the same on all
 * ranks, and what its ranks have agreed on since. It outlives plans.
 */
import {
  corrected,
  UNCORRECTED,
  type Correction,
} from '../../shared/cost-model/network-correction.ts';
import { LOOPBACK, type NetworkCost } from '../../shared/cost-model/network-cost.ts';

/** Plain data. */
export interface SavedKnowledge {
  readonly correction: Correction;
  readonly denseSeconds: number | undefined;
}

export class NetworkKnowledge {
  readonly constants: NetworkCost;
  /** For a person: where the constants come from. */
  readonly origin: string;
  correction: Correction = UNCORRECTED;
  /** Seconds that an uncompressed exchange took in this run, decompression included. */
  denseSeconds: number | undefined;

  /**
   * @param emulated whether the constants are those of an emulated network
   * @param places the node of each rank; default: all are on one
   */
  constructor(known?: NetworkCost, emulated = false, places?: readonly number[]) {
    this.constants = known ?? LOOPBACK;
    this.origin = emulated
      ? 'by the bandwidth and latency of the emulated network'
      : known === undefined
        ? `by constants of loopback${new Set(places).size > 1 ? ', and of Gigabit Ethernet between nodes' : ''}, ` +
          'as no network profile was measured'
        : 'by the measured network profile';
  }

  /** What was learned since the launch. */
  save(): SavedKnowledge {
    return { correction: this.correction, denseSeconds: this.denseSeconds };
  }

  restore({ correction, denseSeconds }: SavedKnowledge): void {
    this.correction = correction;
    this.denseSeconds = denseSeconds;
  }

  /** What collectives are chosen by: as launched with, or as far as times correct it. */
  costBy(times: boolean): NetworkCost {
    return times ? this.cost : this.constants;
  }

  /** The constants as far as they have been corrected. */
  get cost(): NetworkCost {
    return corrected(this.constants, this.correction);
  }
}
