/**
 * The desk: memory in which a rank gives samples to PyTorch's process and gets what that makes of
 * them. It has slots, one for each use of samples, so that none disturbs another.
 */
import { shareMemory, type SharedMemory } from '../bridge/shared-memory.ts';
import type { BatchFields, BatchValues } from '../training/batches/batch.ts';
import type { Measure } from '../training/measure-totals.ts';
import type { Model } from '../training/models/model.ts';
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
  /** Shapes of what a stage of a pipeline gets from others and gives to them; default: nothing. */
  readonly passed?: PassedShapes | undefined;
}

type Shape = readonly number[];

interface PassedShapes {
  /** The shape of a micro-batch; undefined where there is no such stage. */
  readonly before: Shape | undefined;
  readonly after: Shape | undefined;
  /** Other stages' tensors. */
  readonly borrowed: readonly Shape[];
}

/** Arrays that a stage gets from others and gives to them: values on the way there, gradients back. */
export interface Passed {
  readonly before: Float32Array | undefined;
  readonly after: Float32Array | undefined;
  readonly borrowed: readonly {
    readonly values: Float32Array;
    readonly gradient: Float32Array;
  }[];
  readonly places: { readonly before?: Place; readonly after?: Place };
  readonly borrowedPlaces: readonly {
    readonly values: Place;
    readonly gradient: Place;
  }[];
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
  readonly passed: Passed;
  readonly memory: SharedMemory;
  readonly bytes: number;

  private constructor(
    places: DeskPlaces,
    passed: Pick<Passed, 'borrowedPlaces' | 'places'>,
    memory: SharedMemory,
    bytes: number,
  ) {
    this.places = places;
    this.memory = memory;
    this.bytes = bytes;
    const { after, before } = passed.places;
    this.passed = {
      ...passed,
      before: before && this.#floats(before),
      after: after && this.#floats(after),
      borrowed: passed.borrowedPlaces.map((one) => {
        return {
          values: this.#floats(one.values),
          gradient: this.#floats(one.gradient),
        };
      }),
    };
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
    const passed = passedPlaces(room, shape.passed);
    return new Desk(places, passed, await shareMemory(room.bytes / 4), room.bytes);
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

function passedPlaces(
  room: Room,
  { after, before, borrowed }: PassedShapes = NOTHING_PASSED,
): Pick<Passed, 'borrowedPlaces' | 'places'> {
  const floats = (shape: Shape) => room.place('f32', shape);
  return {
    places: {
      ...(before === undefined ? {} : { before: floats(before) }),
      ...(after === undefined ? {} : { after: floats(after) }),
    },
    borrowedPlaces: borrowed.map((shape) => {
      return { values: floats(shape), gradient: floats(shape) };
    }),
  };
}

const NOTHING_PASSED = { before: undefined, after: undefined, borrowed: [] };

/** A model's tables as a desk takes them. */
export const tablesOf = ({ tensors }: Pick<Model, 'tensors'>): readonly TableRows[] =>
  tensors.flatMap(({ rowsOf, shape }) =>
    rowsOf === undefined ? [] : [{ field: rowsOf, shape: shape.slice(1) }],
  );

/** Tensors as the process hears of them. */
export const tensorsOf = ({ tensors }: Pick<Model, 'tensors'>) =>
  tensors.map(({ name, rowsOf, shape }) => {
    return { name, shape, isTable: rowsOf !== undefined };
  });

/** Measures in a desk, valid until they are computed again. */
export const measuresOf = (measures: readonly Float32Array[]): readonly Measure[] =>
  measures.map((values) => {
    return { data: () => Promise.resolve(values) };
  });

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
