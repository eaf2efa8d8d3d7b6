/**
 * One rank: a cell is run once to see that its result is right and what it sends, then
 * timed. Ranks meet at a barrier before each repetition, or the times would be of waiting.
 */
import { optimizeEarly } from '../../src/agent/bundle/early-optimization.ts';
import type { CollectiveDefinition } from '../../src/agent/collectives/collective.ts';
import { TransportCommunicator } from '../../src/agent/collectives/communicator.ts';
import { findCollective } from '../../src/agent/collectives/registry.ts';
import { smallAllreduce } from '../../src/agent/collectives/small-allreduce.ts';
import {
  sparseStreams,
  type Combined,
  type Payload,
} from '../../src/agent/memory/payload.ts';
import { ArenaSite } from '../../src/agent/sites/arena-site.ts';
import { ExchangeEngine } from '../../src/agent/exchange/exchange-engine.ts';
import { Arena, type Region, type Vector } from '../../src/agent/memory/arena.ts';
import { sparseBytes } from '../../src/agent/memory/entries.ts';
import type { Kernels } from '../../src/agent/kernels/kernels.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import { timeCollectives } from '../../src/agent/probe/collective-timing.ts';
import { timeKernels } from '../../src/agent/probe/kernel-timing.ts';
import { timeLinks } from '../../src/agent/probe/link-timing.ts';
import { PhaseClock } from '../../src/agent/profile/phase-clock.ts';
import type { Transport } from '../../src/agent/transport/transport.ts';
import { failure } from '../../src/shared/errors/errors.ts';
import { setsInTurn, sparseData, valueAt, type SparseData } from './data-set.ts';
import type {
  Cell,
  Connected,
  Iterated,
  IteratedExchange,
  Listening,
  Measured,
  MeasuredExchange,
  Probed,
  ToRank,
} from './rank-protocol.ts';
import { listenOn, type ListeningRank } from './rank-transport.ts';

type Order<Type extends ToRank['type']> = Extract<ToRank, { readonly type: Type }>;

const BARRIER_STREAM = 1000;
const PROBE_STREAM = 1001;
/** A stream of its own for each collective. */
const streamOf = ({ code }: CollectiveDefinition): number => 1100 + code;

export class BenchRank {
  readonly #arena = new Arena();
  readonly #kernels: Kernels = loadWasmKernels(this.#arena);
  readonly #clock = new PhaseClock();
  readonly #communicators = new Map<number, TransportCommunicator>();
  readonly #dataSets = new Map<string, SparseData>();
  /** Data sets taken so far. */
  #drawn = 0;
  #rank = 0;
  #listening: ListeningRank | undefined;
  #transport: Transport | undefined;
  #places: readonly number[] | undefined;
  #payload: Region | undefined;

  async listen({ rank, host, transport }: Order<'listen'>): Promise<Listening> {
    this.#rank = rank;
    this.#listening = await listenOn(host, transport);
    return { type: 'listening', address: this.#listening.address };
  }

  /** @throws GradwireError of the transport */
  async connect(order: Order<'connect'>): Promise<Connected> {
    const { addresses, secret, emulated, profiled } = order;
    if (this.#listening === undefined) throw new Error('internal: not listening');
    this.#places = order.places;
    this.#transport = await this.#listening.connect({
      rank: this.#rank,
      addresses,
      secret,
      network: emulated,
      observer: profiled ? this.#clock : undefined,
    });
    // As a run does after its first iteration.
    optimizeEarly();
    return { type: 'connected', transport: this.#listening.transport };
  }

  /**
   * Measures what messages cost on this mesh, what the kernels and the collectives take.
   * @throws GradwireError of the transport
   */
  async probe(): Promise<Probed> {
    const communicator = this.#communicator(PROBE_STREAM);
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    const links = await timeLinks(communicator);
    const kernels = await timeKernels(this.#arena, this.#kernels, () =>
      this.#barrier(),
    );
    communicator[Symbol.dispose]();
    const collectives = await timeCollectives({
      arena: this.#arena,
      kernels: this.#kernels,
      transport: this.#connected(),
    });
    return { type: 'probed', timings: { ...links, kernels, collectives } };
  }

  /** @throws GradwireError of the transport, `RESULT_WRONG` */
  async measure(cell: Cell): Promise<Measured> {
    const collective = findCollective(cell.collective);
    const communicator = this.#communicator(streamOf(collective));
    const run = (payload: Payload): Promise<Combined> => {
      communicator.begin({ epoch: 0, operation: collective.code, dtype: 1 });
      return collective.run(communicator, payload);
    };
    const exchange = cell.checked
      ? await this.#check(cell, communicator, run)
      : undefined;
    const times: number[] = [];
    for (let repetition = -cell.warmUp; repetition < cell.repetitions; repetition++) {
      const payloads = this.#prepare(cell, () => 0, cell.batch);
      await this.#barrier();
      const start = performance.now();
      for (const payload of payloads) await run(payload);
      const elapsed = (performance.now() - start) / cell.batch;
      if (repetition >= 0) times.push(elapsed);
    }
    // Whoever is first to report does it when nobody is being timed any more.
    await this.#barrier();
    communicator[Symbol.dispose]();
    return {
      type: 'measured',
      times,
      exchange,
      arenaBytes: this.#arena.buffer.byteLength,
    };
  }

  /** @throws GradwireError of the exchange */
  async iterate(exchange: IteratedExchange): Promise<Iterated> {
    const { plan, tensors, gradient: bytes } = exchange;
    const values = new Float32Array(Uint8Array.from(bytes).buffer);
    const gradient = this.#arena.allocateVector(values.length);
    const shared = {
      arena: this.#arena,
      kernels: this.#kernels,
      clock: this.#clock,
    };
    const engine = new ExchangeEngine({
      ...shared,
      transport: this.#connected(),
      tensors,
      site: new ArenaSite({
        ...shared,
        gradient: { offset: gradient.offset, length: gradient.length },
      }),
      seed: 1,
      plan,
      switches: [],
    });
    const iterations = [];
    for (let iteration = 0; iteration < exchange.iterations; iteration++) {
      this.#arena.f32(gradient).set(values);
      await engine.fence(iteration);
      // It ends on all ranks together.
      await engine.measures.summarize([0], ['max']);
      const { profile, bytes, collective } = await engine.exchange(iteration);
      iterations.push({
        wall: profile.wall,
        phases: profile.phases,
        overlapped: profile.overlapped,
        payloadBytes: bytes.payload,
        wireSent: bytes.wireSent,
        collective,
      });
    }
    return { type: 'iterated', iterations };
  }

  #connected(): Transport {
    if (this.#transport === undefined) throw new Error('internal: not connected');
    return this.#transport;
  }

  #communicator(stream: number): TransportCommunicator {
    let communicator = this.#communicators.get(stream);
    if (communicator === undefined) {
      communicator = new TransportCommunicator({
        arena: this.#arena,
        kernels: this.#kernels,
        transport: this.#connected(),
        stream,
        places: this.#places,
      });
      this.#communicators.set(stream, communicator);
    }
    return communicator;
  }

  async #barrier(): Promise<void> {
    await this.#agree([0]);
  }

  /** Sums over the ranks. */
  #agree(values: readonly number[]): Promise<readonly number[]> {
    const communicator = this.#communicator(BARRIER_STREAM);
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    return smallAllreduce(
      communicator,
      values,
      values.map(() => 'sum'),
    );
  }

  /**
   * So many payloads anew: a collective may overwrite them. Dense values that are to be
   * timed are 0, or several exchanges in a row would leave f32's range: one vector will do.
   * Sparse ones take the next data sets.
   */
  #prepare(
    cell: Cell,
    value: (index: number) => number,
    copies: number,
  ): readonly Payload[] {
    const { length, count } = cell;
    if (count === undefined) {
      const data = this.#memory(4 * length);
      const values = this.#arena.f32({ offset: data.offset, length });
      if (value(1) === 0) values.fill(0);
      else for (let i = 0; i < length; i++) values[i] = value(i);
      return Array.from({ length: copies }, () => ({ kind: 'dense', length, data }));
    }
    const bytes = sparseBytes(count);
    const { offset: first } = this.#memory(copies * bytes);
    return Array.from({ length: copies }, (_, copy) => {
      const offset = first + copy * bytes;
      const { indices, values } = this.#nextDataSet(cell, count);
      this.#arena.u32(offset, count).set(indices);
      this.#arena.f32({ offset: offset + 4 * count, length: count }).set(values);
      return { kind: 'sparse', length, count, data: { offset, bytes } };
    });
  }

  /** Memory of exactly the given bytes, kept between cells. */
  #memory(bytes: number): Region {
    if (this.#payload !== undefined && this.#payload.bytes < bytes) {
      this.#arena.release(this.#payload);
      this.#payload = undefined;
    }
    this.#payload ??= this.#arena.allocate(bytes);
    return { offset: this.#payload.offset, bytes };
  }

  #nextDataSet(cell: Cell, count: number): SparseData {
    const sets = setsInTurn(count);
    const dataSet = sets === 1 ? cell.dataSet : this.#drawn++ % sets;
    const shape = `${cell.length}/${count}/`;
    const key = `${shape}${dataSet}`;
    let data = this.#dataSets.get(key);
    if (data === undefined) {
      // Cells of one shape follow each other.
      if (![...this.#dataSets.keys()][0]?.startsWith(shape)) this.#dataSets.clear();
      data = sparseData({ rank: this.#rank, length: cell.length, count, dataSet });
      this.#dataSets.set(key, data);
    }
    return data;
  }

  /**
   * Runs it once. The entries of the result must add up to those of all payloads: values
   * are positive integers, so nothing cancels and nothing is rounded. A partial sum is less.
   * @throws GradwireError `RESULT_WRONG`
   */
  async #check(
    cell: Cell,
    communicator: TransportCommunicator,
    run: (payload: Payload) => Promise<Combined>,
  ): Promise<MeasuredExchange> {
    const transport = this.#connected();
    // All collectives are checked with the same data set.
    this.#drawn = 0;
    const payload = this.#prepare(cell, valueAt, 1)[0]!;
    const given = this.#entries(payload.kind === 'sparse' ? payload.count : undefined, {
      offset: payload.data.offset,
      length: cell.length,
    });
    const { framingSent: before } = transport.counters;
    const combined = await run(payload);
    const framingBytes = transport.counters.framingSent - before;
    const payloadBytes = communicator.sentBytes;
    const { sum, entries } = this.#result(combined, cell.length);
    const [expected = 0, allEntries] = await this.#agree([given.sum, entries]);
    const { partial } = findCollective(cell.collective);
    const whole = partial === true ? sum <= expected : sum === expected;
    if (whole && allEntries === transport.size * entries) {
      return { payloadBytes, framingBytes, entries };
    }
    throw failure(
      'RESULT_WRONG',
      `${cell.collective} of ${cell.length} elements on ${transport.size} ranks: entries ` +
        `add up to ${sum}, ${expected} went in`,
      { rank: this.#rank, next: 'This is a bug: run the tests of the collectives.' },
    );
  }

  #result(combined: Combined, length: number): { sum: number; entries: number } {
    if (combined.form === 'gathered') throw new Error('internal: no reduction');
    if (combined.form === 'dense') {
      return this.#entries(undefined, { offset: combined.data.offset, length });
    }
    let [sum, entries] = [0, 0];
    for (const { offset, count } of sparseStreams(combined)) {
      const one = this.#entries(count, { offset, length });
      sum += one.sum;
      entries += one.entries;
    }
    return { sum, entries };
  }

  /** Entries of a dense vector, or of a stream of `count` entries at its place. */
  #entries(
    count: number | undefined,
    { offset, length }: Vector,
  ): { sum: number; entries: number } {
    return sumOf(
      this.#arena.f32(
        count === undefined
          ? { offset, length }
          : { offset: offset + 4 * count, length: count },
      ),
    );
  }
}

function sumOf(values: Float32Array): { sum: number; entries: number } {
  let sum = 0;
  let entries = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    sum += value;
    if (value !== 0) entries++;
  }
  return { sum, entries };
}
