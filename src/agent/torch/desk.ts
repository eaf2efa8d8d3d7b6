/**
 * The desk: memory in which a rank gives samples to PyTorch's process and gets what that makes of
 * them. It has slots, one for each use of samples, so that none disturbs another.
 */
import { shareMemory, type SharedMemory } from '../bridge/shared-memory.ts';
import type { BatchFields, BatchValues } from '../training/batches/batch.ts';
import type { Place, SlotName, SlotPlaces } from './messages.ts';

/** Arrays begin at a multiple of as many bytes. */
const ALIGNMENT = 64;

interface TableRows {
  /** The field of the batch that names the rows. */
  readonly field: string;
  /** Elements of a row. */
  readonly shape: readonly number[];
}

export interface DeskShape {
  readonly fields: BatchFields;
  readonly tables: readonly TableRows[];
  /** Sums of the metric. */
  readonly sums: number;
  /** Shapes of the model's statistics. */
  readonly statistics: readonly (readonly number[])[];
  /** Samples of each slot. */
  readonly rows: Readonly<Record<SlotName, number>>;
}

export interface Slot {
  readonly values: BatchValues;
  readonly rows: readonly Float32Array[];
  readonly rowGradients: readonly Float32Array[];
  readonly measures: readonly Float32Array[];
}

export interface DeskPlaces {
  readonly slots: Readonly<Record<SlotName, SlotPlaces>>;
  readonly statistics: readonly Place[];
}

export class Desk {
  readonly places: DeskPlaces;
  readonly slots: Readonly<Record<SlotName, Slot>>;
  readonly statistics: readonly Float32Array[];
  readonly memory: SharedMemory;
  readonly bytes: number;

  private constructor(places: DeskPlaces, memory: SharedMemory, bytes: number) {
    this.places = places;
    this.memory = memory;
    this.bytes = bytes;
    const { train, test, statistics } = places.slots;
    this.slots = {
      train: this.#slot(train),
      test: this.#slot(test),
      statistics: this.#slot(statistics),
    };
    this.statistics = places.statistics.map((place) => this.#floats(place));
  }

  /** @throws GradwireError `BRIDGE_UNAVAILABLE` */
  static async open(shape: DeskShape): Promise<Desk> {
    const room = new Room();
    const slot = (rows: number): SlotPlaces => slotPlaces(room, shape, rows);
    const { rows } = shape;
    const places = {
      slots: {
        train: slot(rows.train),
        test: slot(rows.test),
        statistics: slot(rows.statistics),
      },
      statistics: shape.statistics.map((each) => room.place('f32', each)),
    };
    return new Desk(places, await shareMemory(room.bytes / 4), room.bytes);
  }

  #slot({ fields, measures, rowGradients, rows }: SlotPlaces): Slot {
    const floats = (of: readonly Place[]) => of.map((place) => this.#floats(place));
    return {
      values: Object.fromEntries(
        Object.entries(fields).map(([name, place]) => [
          name,
          place.type === 'f32' ? this.#floats(place) : this.#integers(place),
        ]),
      ),
      rows: floats(rows),
      rowGradients: floats(rowGradients),
      measures: floats(measures),
    };
  }

  #floats({ offset, shape }: Place): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#buffer, this.#start + offset, lengthOf(shape));
  }

  #integers({ offset, shape }: Place): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#buffer, this.#start + offset, lengthOf(shape));
  }

  /** Memory of its own, not an arena's. */
  get #buffer(): ArrayBuffer {
    return this.memory.values.buffer as ArrayBuffer;
  }

  get #start(): number {
    return this.memory.values.byteOffset;
  }
}

function slotPlaces(
  room: Room,
  { fields, sums, tables }: DeskShape,
  rows: number,
): SlotPlaces {
  const ofTables = () =>
    tables.map(({ field, shape }) =>
      room.place('f32', [rows, ...fields[field]!.shape, ...shape]),
    );
  return {
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, { shape, type }]) => [
        name,
        room.place(type, [rows, ...shape]),
      ]),
    ),
    rows: ofTables(),
    rowGradients: ofTables(),
    measures: Array.from({ length: 1 + sums }, () => room.place('f32', [rows])),
  };
}

/** Places arrays one behind the other. */
class Room {
  bytes = 0;

  place(type: Place['type'], shape: readonly number[]): Place {
    const offset = this.bytes;
    this.bytes += ALIGNMENT * Math.ceil((4 * lengthOf(shape)) / ALIGNMENT);
    return { type, shape, offset };
  }
}

const lengthOf = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1);
