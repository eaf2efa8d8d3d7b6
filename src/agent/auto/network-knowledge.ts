/**
 * A run's knowledge of the network: the constants from its launch, the same on all ranks,
 * and agreed corrections. It outlives plans.
 */
import {
  corrected,
  UNCORRECTED,
  type Correction,
} from '../../shared/cost-model/network-correction.ts';
import { formatBitRate, formatDuration } from '../../shared/words/units.ts';
import { LOOPBACK, type NetworkCost } from '../../shared/cost-model/network-cost.ts';

/** Plain data. */
export interface SavedKnowledge {
  readonly correction: Correction;
  readonly denseSeconds: number | undefined;
}

export class NetworkKnowledge {
  readonly constants: NetworkCost;
  /** The source of the constants, for display. */
  readonly origin: string;
  correction: Correction = UNCORRECTED;
  /** Seconds that an uncompressed exchange took in this run, decompression included. */
  denseSeconds: number | undefined;

  /**
   * @param emulated whether the constants are those of an emulated network
   * @param places the node of each rank; default: all are on one
   * @param allocated whether Slurm picks other nodes for every run, so that their links cannot
   * be measured before
   */
  constructor(
    known?: NetworkCost,
    emulated = false,
    places?: readonly number[],
    allocated = false,
  ) {
    this.constants = known ?? LOOPBACK;
    this.origin = emulated
      ? 'using the emulated network’s bandwidth and latency'
      : originOf(known, new Set(places).size > 1, allocated);
  }

  /** Corrections learnt since the launch. */
  save(): SavedKnowledge {
    return { correction: this.correction, denseSeconds: this.denseSeconds };
  }

  restore({ correction, denseSeconds }: SavedKnowledge): void {
    this.correction = correction;
    this.denseSeconds = denseSeconds;
  }

  /**
   * The constants for choosing collectives: those from the launch, or corrected by
   * times.
   */
  costBy(times: boolean): NetworkCost {
    return times ? this.cost : this.constants;
  }

  /** The corrected constants. */
  get cost(): NetworkCost {
    return corrected(this.constants, this.correction);
  }
}

function originOf(
  known: NetworkCost | undefined,
  spread: boolean,
  allocated: boolean,
): string {
  if (spread && known?.between !== undefined) {
    const { alpha, beta } = known.between;
    const within = known.beta === LOOPBACK.beta && known.alpha === LOOPBACK.alpha;
    return (
      `using the measured links between machines (slowest: ${formatDuration(1000 * alpha)}, ` +
      `${formatBitRate(8 / beta)}), and within a machine ` +
      (within ? 'loopback constants' : 'the measured network profile')
    );
  }
  if (known !== undefined) return 'using the measured network profile';
  const unmeasured = allocated
    ? 'links between nodes that Slurm allocates cannot be measured'
    : 'not all links between them have been measured (run gradwire nodes network)';
  return (
    `using loopback constants${spread ? ', and those of Gigabit Ethernet between machines' : ''}, because ` +
    (spread ? unmeasured : 'no network profile has been measured')
  );
}
