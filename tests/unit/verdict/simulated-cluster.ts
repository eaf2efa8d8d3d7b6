/**
 * Ranks that train on machines with few cores and over links, in virtual time: an event for every slice of a core
 * and every message. It shares no formula with the verdict, which sees its records alone. Which rank waits for
 * what, and for how long, follows from its queues.
 */
import {
  zeroTimes,
  sumPhases,
  type Phase,
} from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { uniform } from '../reproduce/draws.ts';
import { Agenda } from './agenda.ts';
import { Processor } from './processor.ts';

export interface SimulatedLink {
  /** Bit/s. */
  readonly bandwidth: number;
  /** Milliseconds, one way. */
  readonly latency: number;
}

export interface SimulatedWorld {
  /** Cores of each machine, and the number of its ranks. */
  readonly machines: readonly { readonly cores: number; readonly ranks: number }[];
  readonly within: SimulatedLink;
  readonly between: SimulatedLink;
  /** Whether records say what the links are. */
  readonly isLinkKnown: boolean;
  readonly iterations: number;
  readonly seed: number;
  /** Milliseconds of a core that a rank computes for. */
  readonly compute: (rank: number, draw: () => number) => number;
  /** Milliseconds that its data take, without a core. */
  readonly read: (rank: number, draw: () => number) => number;
  /** Milliseconds of a core for compressing, and again for decompressing. */
  readonly compress: number;
  readonly collective: 'ring' | 'doubling' | 'all-to-all';
  /** Bytes of the payload of a rank. */
  readonly bytes: number;
}

type Effect =
  | { readonly kind: 'work' | 'pause'; readonly phase: Phase; readonly time: number }
  | { readonly kind: 'take'; readonly from: number }
  | { readonly kind: 'end'; readonly iteration: number };

/** The time of a core for a message, and for a byte that is summed. */
const MESSAGE_WORK = 0.01;
const BYTE_WORK = 1e-7;
/** A message that is no longer arrives whole: a rank sees nothing of it before. */
const SEGMENT_BYTES = 1448;
/** Slices of schedulers: whichever a kernel has, a promise holds. */
const SLICES = [0.75, 3, 6] as const;

interface Message {
  readonly begins: number;
  readonly ends: number;
  readonly bytes: number;
}

/** The records of a run. */
export function simulate(world: SimulatedWorld): readonly RunRecord[] {
  return new Cluster(world).run();
}

class Cluster {
  readonly #world: SimulatedWorld;
  readonly #ranks: number;
  readonly #agenda = new Agenda();
  readonly #processors: readonly Processor[];
  readonly #machineOf: readonly number[];
  readonly #outgoing: Float64Array;
  readonly #incoming: Float64Array;
  readonly #messages = new Map<number, Message[]>();
  readonly #takers = new Map<number, () => void>();
  readonly #records: RunRecord[] = [];
  readonly #sent: Float64Array;
  readonly #received: Float64Array;
  readonly #phases: Record<Phase, number>[];

  constructor(world: SimulatedWorld) {
    this.#world = world;
    const slice = SLICES[world.seed % SLICES.length]!;
    this.#processors = world.machines.map(
      ({ cores }) => new Processor(this.#agenda, cores, slice, drawn(world.seed, -1)),
    );
    this.#machineOf = world.machines.flatMap(({ ranks }, machine) =>
      new Array<number>(ranks).fill(machine),
    );
    this.#ranks = this.#machineOf.length;
    [this.#outgoing, this.#incoming, this.#sent, this.#received] = [0, 1, 2, 3].map(
      () => new Float64Array(this.#ranks),
    ) as [Float64Array, Float64Array, Float64Array, Float64Array];
    this.#phases = this.#machineOf.map(() => zero());
  }

  run(): readonly RunRecord[] {
    for (let rank = 0; rank < this.#ranks; rank++) {
      this.#advance(rank, this.#program(rank, drawn(this.#world.seed, rank)));
    }
    this.#agenda.run();
    return [this.#started(), ...this.#records];
  }

  #advance(rank: number, program: Generator<Effect, void, void>): void {
    const { done, value } = program.next();
    if (done === true) return;
    const since = this.#agenda.now;
    const phases = this.#phases[rank]!;
    const go = (): void => this.#advance(rank, program);
    if (value.kind === 'end') {
      this.#record(rank, value.iteration);
      go();
    } else if (value.kind === 'take') {
      this.#take(value.from, rank, (message) => {
        // Until its first byte is there, a rank waits.
        const began = Math.max(since, message.begins);
        this.#agenda.at(Math.max(this.#agenda.now, message.ends), () => {
          phases.wait += began - since;
          phases.receive += this.#agenda.now - began;
          const noticed = this.#agenda.now;
          this.#processor(rank).work(MESSAGE_WORK, () => {
            const isWhole = message.bytes <= SEGMENT_BYTES;
            const arriving = isWhole ? 0 : MESSAGE_WORK;
            phases.wait += this.#agenda.now - noticed - arriving;
            phases.receive += arriving;
            this.#received[rank]! += message.bytes;
            go();
          });
        });
      });
    } else {
      const finish = (): void => {
        phases[value.phase] += this.#agenda.now - since;
        go();
      };
      if (value.kind === 'work') this.#processor(rank).work(value.time, finish);
      else this.#agenda.at(since + value.time, finish);
    }
  }

  *#program(rank: number, draw: () => number): Generator<Effect, void, void> {
    const { compress, compute, iterations, read } = this.#world;
    for (let iteration = 0; iteration < iterations; iteration++) {
      const reading = read(rank, draw);
      if (reading > 0) yield { kind: 'pause', phase: 'data', time: reading };
      yield { kind: 'work', phase: 'compute', time: compute(rank, draw) };
      if (compress > 0) yield { kind: 'work', phase: 'compress', time: compress };
      yield* this.#exchange(rank);
      if (compress > 0) yield { kind: 'work', phase: 'decompress', time: compress };
      yield { kind: 'work', phase: 'apply', time: 0.1 };
      yield { kind: 'end', iteration };
    }
  }

  *#exchange(rank: number): Generator<Effect, void, void> {
    const { bytes, collective } = this.#world;
    const ranks = this.#ranks;
    const sum = (of: number): Effect => ({
      kind: 'work',
      phase: 'reduce',
      time: of * BYTE_WORK,
    });
    if (collective === 'ring') {
      for (let step = 0; step < 2 * (ranks - 1); step++) {
        this.#send(rank, (rank + 1) % ranks, bytes / ranks);
        yield { kind: 'take', from: (rank + ranks - 1) % ranks };
        if (step < ranks - 1) yield sum(bytes / ranks);
      }
    } else if (collective === 'all-to-all') {
      for (let hop = 1; hop < ranks; hop++)
        this.#send(rank, (rank + hop) % ranks, bytes);
      for (let hop = 1; hop < ranks; hop++) {
        yield { kind: 'take', from: (rank + ranks - hop) % ranks };
        yield sum(bytes);
      }
    } else {
      const power = 2 ** Math.floor(Math.log2(ranks));
      if (rank >= power) {
        this.#send(rank, rank - power, bytes);
        yield { kind: 'take', from: rank - power };
        return;
      }
      const folded = rank + power;
      if (folded < ranks) {
        yield { kind: 'take', from: folded };
        yield sum(bytes);
      }
      for (let distance = 1; distance < power; distance *= 2) {
        const peer =
          rank % (2 * distance) < distance ? rank + distance : rank - distance;
        this.#send(rank, peer, bytes);
        yield { kind: 'take', from: peer };
        yield sum(bytes);
      }
      if (folded < ranks) this.#send(rank, folded, bytes);
    }
  }

  #send(from: number, to: number, bytes: number): void {
    const { within, between } = this.#world;
    const isNear = this.#machineOf[from] === this.#machineOf[to];
    const { bandwidth, latency } = isNear ? within : between;
    const carried = (8000 * bytes) / bandwidth;
    // A card sends one message after the other, and so does it receive them.
    const leaves = Math.max(this.#agenda.now, this.#outgoing[from]!);
    this.#outgoing[from] = leaves + carried;
    const begins = Math.max(leaves + latency, this.#incoming[to]!);
    const ends = begins + carried;
    this.#incoming[to] = ends;
    this.#sent[from]! += bytes;
    const pair = from * this.#ranks + to;
    const waiting = this.#messages.get(pair);
    if (waiting === undefined) this.#messages.set(pair, [{ begins, ends, bytes }]);
    else waiting.push({ begins, ends, bytes });
    this.#takers.get(pair)?.();
  }

  #take(from: number, to: number, then: (message: Message) => void): void {
    const pair = from * this.#ranks + to;
    const message = this.#messages.get(pair)?.shift();
    if (message !== undefined) {
      then(message);
      return;
    }
    this.#takers.set(pair, () => {
      this.#takers.delete(pair);
      then(this.#messages.get(pair)!.shift()!);
    });
  }

  #processor(rank: number): Processor {
    return this.#processors[this.#machineOf[rank]!]!;
  }

  #record(rank: number, iteration: number): void {
    const phases = this.#phases[rank]!;
    this.#phases[rank] = zero();
    const { bytes } = this.#world;
    const [wireSent, wireReceived] = [this.#sent[rank]!, this.#received[rank]!];
    this.#sent[rank] = 0;
    this.#received[rank] = 0;
    const traffic = { payload: bytes, framingSent: 0, framingReceived: 0 };
    this.#records.push({
      type: 'iteration',
      rank,
      iteration,
      at: this.#agenda.now,
      phases,
      wall: sumPhases(phases),
      overlapped: 0,
      bytes: { dense: 1e6, wireSent, wireReceived, ...traffic },
      loss: 1,
      lr: 0.1,
      epoch: 0,
      method: 'none',
      collective: 'ring',
    } as RunRecord);
  }

  #started(): RunRecord {
    const { between, isLinkKnown, machines, within } = this.#world;
    const names = machineNames(machines.length);
    const pairs =
      machines.length < 2 ? {} : { pairs: [{ between: names, ...between }] };
    return {
      type: 'started',
      at: 0,
      ranks: this.#ranks,
      processes: this.#machineOf.map((machine, rank) => ({
        rank,
        pid: 1 + rank,
        node: names[machine]!,
        cores: machines[machine]!.cores,
      })),
      ...(isLinkKnown ? { emulated: { ...within, ...pairs } } : {}),
    } as unknown as RunRecord;
  }
}

/** The draws of a rank, or of machines. */
function drawn(seed: number, rank: number): () => number {
  const draw = uniform(2 + rank + 1000 * seed);
  // The first ones of neighbouring seeds resemble each other.
  for (let i = 0; i < 8; i++) draw();
  return draw;
}

export const machineNames = (count: number): readonly string[] =>
  ['box', 'crate'].slice(0, count);

const zero = (): Record<Phase, number> => zeroTimes() as Record<Phase, number>;
