/**
 * A method's work in the arena, by the CPU's kernels, which is done when a call
 * returns.
 */
import type { FixedSums } from '../../kernels/fixed-point.ts';
import type { Kernels, TwoMeans } from '../../kernels/kernels.ts';
import type { Quantizer } from '../../kernels/quantization.ts';
import { roomBytes } from '../../kernels/sparsification.ts';
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../../memory/entries.ts';
import { sparseStreams, type Combined, type Payload } from '../../memory/payload.ts';
import type { HalfType } from '../../memory/value-type.ts';
import { NotFiniteInput } from '../not-finite-input.ts';
import type { FactorRoom } from '../factors.ts';
import type { Section, SectionCoding } from '../sections.ts';
import type { Stretch } from '../selection.ts';
import type { Mirror, Work } from '../work.ts';
import { ArenaEntryRoom } from './arena-entries.ts';
import { ArenaEntryCoder } from './arena-entry-coder.ts';
import { ArenaFactors } from './arena-factors.ts';
import { ArenaHalves } from './arena-halves.ts';
import { ArenaStretches, roomFor } from './arena-stretches.ts';
import { ArenaSections } from './arena-sections.ts';
import { ArenaSelector } from './arena-selector.ts';

export class ArenaWork implements Work<Vector> {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly #regions: Region[] = [];

  constructor(arena: Arena, kernels: Kernels) {
    this.arena = arena;
    this.kernels = kernels;
  }

  region(bytes: number): Region {
    const region = this.arena.allocate(bytes);
    this.#regions.push(region);
    return region;
  }

  vector(length: number): Vector {
    const vector = { offset: this.region(4 * length).offset, length };
    this.kernels.fill(vector, 0);
    return vector;
  }

  slice({ offset }: Vector, start: number, length: number): Vector {
    return { offset: offset + 4 * start, length };
  }

  clear(x: Vector): void {
    this.kernels.fill(x, 0);
  }

  add(out: Vector, x: Vector): void {
    this.kernels.add(out, x);
  }

  addFinite(out: Vector, x: Vector): void {
    const index = this.kernels.addFinite(out, x);
    if (index >= 0) throw new NotFiniteInput(index, this.arena.f32(x)[index]!);
  }

  scale(x: Vector, factor: number): void {
    this.kernels.scale(x, factor);
  }

  blend(out: Vector, outFactor: number, x: Vector, xFactor: number): void {
    this.kernels.blend(out, outFactor, x, xFactor);
  }

  shiftBySign(x: Vector, plus: number, minus: number): void {
    this.kernels.shiftBySign(x, plus, minus);
  }

  scatterAdd(out: Vector, stream: SparseStream, factor: number): void {
    this.kernels.scatterAdd(out, stream, factor);
  }

  average(combined: Combined, out: Vector, world: number): { nnzReduced?: number } {
    const { kernels } = this;
    switch (combined.form) {
      case 'dense': {
        const sum = { offset: combined.data.offset, length: out.length };
        if (sum.offset !== out.offset) kernels.copy(out, sum);
        if (world > 1 && combined.averaged !== true) kernels.scale(out, 1 / world);
        return {};
      }
      case 'sparse':
      case 'streams':
        return this.#scatterAverage(sparseStreams(combined), out, world);
      case 'gathered': {
        kernels.fill(out, 0);
        for (const payload of combined.payloads) this.#addPayload(payload, out);
        if (world > 1) kernels.scale(out, 1 / world);
        return {};
      }
      default:
        return combined satisfies never;
    }
  }

  fixedSums(vectors: readonly Vector[]): readonly FixedSums[] {
    return vectors.map((x) => this.kernels.quantization.fixedSums(x));
  }

  twoMeans(vectors: readonly Vector[]): readonly TwoMeans[] {
    return vectors.map((x) => this.kernels.twoMeans(x));
  }

  values(x: Vector): Float32Array {
    return this.arena.f32(x).slice();
  }

  write(x: Vector, values: Float32Array): void {
    this.arena.f32(x).set(values);
  }

  mirror(): Mirror<Vector> {
    return { of: (x) => x };
  }

  halves(length: number, type: HalfType): ArenaHalves {
    return new ArenaHalves(this.kernels.halfPrecision, type, this.region(2 * length));
  }

  entries(capacity: number): ArenaEntryRoom {
    return new ArenaEntryRoom(this.kernels, this.#pairs(capacity), capacity);
  }

  selector(_length: number, capacity: number): ArenaSelector {
    return new ArenaSelector(this, this.#pairs(capacity), capacity);
  }

  stretchSelector(_length: number, stretches: readonly Stretch[]): ArenaStretches {
    const region = this.region(roomBytes(roomFor(stretches)));
    return new ArenaStretches(this.arena, this.kernels, region, stretches);
  }

  factors(room: FactorRoom): ArenaFactors {
    return new ArenaFactors(this.kernels, this.vector(room.lefts + room.rights), room);
  }

  sections(sections: readonly Section[], coding: SectionCoding): ArenaSections {
    return new ArenaSections(this, sections, coding);
  }

  entryCoder(capacity: number, quantizer: Quantizer): ArenaEntryCoder {
    return new ArenaEntryCoder(this, capacity, quantizer);
  }

  [Symbol.dispose](): void {
    for (const region of this.#regions.splice(0)) this.arena.release(region);
  }

  #pairs(capacity: number): Region {
    return this.region(sparseBytes(capacity));
  }

  #scatterAverage(
    streams: readonly SparseStream[],
    out: Vector,
    world: number,
  ): { nnzReduced: number } {
    const { kernels } = this;
    kernels.fill(out, 0);
    let nnzReduced = 0;
    for (const stream of streams) {
      kernels.scatterAdd(out, stream, 1 / world);
      nnzReduced += stream.count;
    }
    return { nnzReduced };
  }

  #addPayload(payload: Payload, out: Vector): void {
    // A dense payload may be the gradient's own memory, which is `out`: it is never
    // gathered, as every collective for dense payloads sums them.
    if (payload.kind !== 'sparse') {
      throw new Error(`internal: a gathered ${payload.kind} payload has no sum here`);
    }
    const { data, count } = payload;
    this.kernels.scatterAdd(out, { offset: data.offset, count }, 1);
  }
}
