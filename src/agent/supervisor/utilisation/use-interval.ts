/** Sums what a machine does from reading to reading, and makes one record of it. */
import type {
  GpuUse,
  RankUse,
  UtilisationRecord,
} from '../../../shared/records/utilisation.ts';
import type { GpuReading } from './gpu-readings.ts';
import type { MachineReading } from './machine-reader.ts';
import type { FamilyReading } from './rank-family.ts';

/** All that is known of the machine at one moment. */
export interface UseReading {
  /** Milliseconds on a clock that only goes forward. */
  readonly at: number;
  readonly machine: MachineReading;
  readonly ranks: ReadonlyMap<number, FamilyReading>;
  /** Milliseconds of processor time of this process. */
  readonly own: number;
}

type Measured = Omit<UtilisationRecord, 'type' | 'at' | 'node' | 'from' | 'to'>;

interface OpenGpu extends Pick<GpuReading, 'name' | 'memory' | 'total'> {
  busy: number;
  readings: number;
}

export class UseInterval {
  readonly #processors: number;
  readonly #first: UseReading;
  #last: UseReading;
  #peak = 0;
  #memory = 0;
  /** Processor time of each rank, in milliseconds, and most bytes. */
  readonly #ranks = new Map<number, { busy: number; memory: number }>();
  readonly #gpus = new Map<string, OpenGpu>();

  /**
   * @param processors that may be used
   * @param first the reading with which it begins
   */
  constructor(processors: number, first: UseReading) {
    this.#processors = processors;
    this.#first = first;
    this.#last = first;
    this.#memory = first.machine.memory?.used ?? 0;
  }

  /** Milliseconds up to the last reading. */
  get wall(): number {
    return this.#last.at - this.#first.at;
  }

  /** The reading with which the next interval begins. */
  get last(): UseReading {
    return this.#last;
  }

  add(reading: UseReading): void {
    const before = this.#last;
    this.#last = reading;
    const busy = grown(
      reading.machine.processors?.busy,
      before.machine.processors?.busy,
    );
    this.#peak = Math.max(this.#peak, (busy ?? 0) / (reading.at - before.at));
    this.#memory = Math.max(this.#memory, reading.machine.memory?.used ?? 0);
    for (const [rank, { busy: now, memory }] of reading.ranks) {
      const sum = this.#ranks.get(rank) ?? { busy: 0, memory: 0 };
      sum.busy += grown(now, before.ranks.get(rank)?.busy) ?? 0;
      sum.memory = Math.max(sum.memory, memory);
      this.#ranks.set(rank, sum);
    }
  }

  addGpu({ bus, busy, memory, name, total }: GpuReading): void {
    const open = this.#gpus.get(bus) ?? { name, busy: 0, readings: 0 };
    this.#gpus.set(bus, {
      name,
      busy: open.busy + (busy ?? 0),
      readings: open.readings + (busy === undefined ? 0 : 1),
      memory: memory === undefined ? open.memory : Math.max(memory, open.memory ?? 0),
      total: total ?? open.total,
    });
  }

  /** The measured part of a record. @param ranks all ranks here */
  measured(ranks: readonly number[]): Measured {
    const { memory, network, processors } = this.#last.machine;
    const from = this.#first.machine;
    const perSecond = (bytes: number | undefined): number =>
      Math.round(((bytes ?? 0) / this.wall) * 1000);
    const gpus = [...this.#gpus].map(gpuUse);
    return {
      wall: rounded(this.wall),
      ...(processors === undefined ? {} : { processors: this.#processorUse() }),
      ...(memory === undefined
        ? {}
        : { memory: { total: memory.total, used: Math.round(this.#memory) } }),
      ...(network === undefined
        ? {}
        : {
            network: {
              sent: perSecond(grown(network.sent, from.network?.sent)),
              received: perSecond(grown(network.received, from.network?.received)),
              loopback: perSecond(grown(network.loopback, from.network?.loopback)),
            },
          }),
      ...(gpus.length === 0 ? {} : { gpus }),
      ranks: ranks.map((rank) => this.#rankUse(rank)),
    };
  }

  #processorUse(): NonNullable<UtilisationRecord['processors']> {
    const [from, to] = [this.#first.machine.processors, this.#last.machine.processors];
    const stolen = grown(to?.stolen, from?.stolen);
    return {
      count: this.#processors,
      busy: rounded((this.#machineBusy() ?? 0) / this.wall),
      peak: rounded(this.#peak),
      own: rounded((this.#last.own - this.#first.own) / this.wall),
      ...(stolen === undefined ? {} : { stolen: rounded(stolen / this.wall) }),
    };
  }

  #rankUse(rank: number): RankUse {
    const sum = this.#ranks.get(rank);
    if (sum === undefined) return { rank };
    // What a process did before it was found comes at once, and is more than any interval has.
    const most = this.#machineBusy() ?? Infinity;
    return {
      rank,
      busy: rounded(Math.min(sum.busy, most) / this.wall),
      memory: sum.memory,
    };
  }

  /** Milliseconds of processor time of the whole machine. */
  #machineBusy(): number | undefined {
    const [from, to] = [this.#first.machine.processors, this.#last.machine.processors];
    return grown(to?.busy, from?.busy);
  }
}

function gpuUse([bus, gpu]: readonly [string, OpenGpu]): GpuUse {
  const { busy, memory, name, readings, total } = gpu;
  return {
    bus,
    name,
    ...(readings === 0 ? {} : { busy: rounded(busy / readings) }),
    ...(memory === undefined ? {} : { memory }),
    ...(total === undefined ? {} : { total }),
  };
}

/** Growth of a counter; one that was set back has not grown. Undefined: not known. */
function grown(to: number | undefined, from: number | undefined): number | undefined {
  if (to === undefined || from === undefined) return undefined;
  return Math.max(0, to - from);
}

/** Three decimals. */
const rounded = (value: number): number => Math.round(1000 * value) / 1000;
