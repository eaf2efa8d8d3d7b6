/**
 * A region of the arena in which one calling thread and its kernel threads share work. A
 * job is one exported kernel over a vector cut into slices; any free thread, including
 * the caller, takes the next slice. A thread that has not started, or waits for a core,
 * takes none, and the caller waits only for threads that are working on a slice. Every
 * argument is linear in the slice's number, its length or the thread's number, so that a
 * job needs no more than a few numbers on the board, and nothing is allocated.
 *
 * The protocol, all by sequentially consistent atomics:
 *
 *     JOB     2·jobs, or 2·jobs + 1 while a job is open; ENDED: threads must exit
 *     ACTIVE  threads that may be reading the board
 *     NEXT    the next slice that nobody has taken
 *
 * A thread counts itself into ACTIVE and then looks whether the job is (still) open. The
 * caller closes the job, then waits until ACTIVE is 0, and only then writes the next.
 * So what is on the board never changes under a thread that reads it.
 */
import { availableParallelism } from 'node:os';
import { TASKS, type KernelExports, type Task } from './kernel-exports.ts';

/**
 * Elements of a slice, unless a kernel requires another length; sums add up blocks of
 * this size.
 */
export const SLICE = 65_536;

/** Slices of one vector that fills the arena. */
const MOST_SLICES = 2 ** 30 / SLICE;

type AnyKernel = (...values: readonly number[]) => number | undefined;

// Words of the board. Words that threads wait on and words that they take from are on
// separate cache lines.
const JOB = 0;
const ACTIVE = 16;
const NEXT = 32;
const FAILED = 48;
const WORDS = 64;

// The job's numbers, in f64.
const TASK = 0;
const LENGTH = 1;
const SLICE_LENGTH = 2;
const SLICES = 3;
/**
 * An argument is a constant plus its increments per slice, per element and per thread.
 */
export const MOST_ARGUMENTS = 16;
const CONSTANTS = 4;
const PER_SLICE = CONSTANTS + MOST_ARGUMENTS;
const PER_ELEMENT = PER_SLICE + MOST_ARGUMENTS;
const PER_THREAD = PER_ELEMENT + MOST_ARGUMENTS;
const NUMBERS = PER_THREAD + MOST_ARGUMENTS;

const JOB_OFFSET = 4 * WORDS;
const RESULTS_OFFSET = JOB_OFFSET + 8 * NUMBERS;

/** Job numbers stay positive. */
const JOB_MASK = 0x3fff_ffff;
const ENDED = -1;

/**
 * Spins of a waiting thread, about 10 µs: steps of one kernel follow each other in less, wake-ups
 * take longer.
 */
const SPINS = 1500;

export class JobBoard {
  static readonly bytes = RESULTS_OFFSET + 8 * MOST_SLICES;

  /** The result of each slice of the last job. */
  readonly results: Float64Array;
  /** The arguments of the next job, for its first slice on the calling thread. */
  readonly constants: Float64Array;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #job: Float64Array;
  /** Spinning blocks the core for other threads, so do not spin on a single core. */
  readonly #spins = availableParallelism() > 1 ? SPINS : 0;

  /**
   * @param offset of `JobBoard.bytes` bytes, which must be zeros when the first thread
   * starts
   */
  constructor(memory: WebAssembly.Memory, offset: number) {
    const buffer = memory.buffer as unknown as SharedArrayBuffer;
    this.#words = new Int32Array(buffer, offset, WORDS);
    this.#job = new Float64Array(buffer, offset + JOB_OFFSET, NUMBERS);
    this.constants = this.#job.subarray(CONSTANTS, PER_SLICE);
    this.results = new Float64Array(buffer, offset + RESULTS_OFFSET, MOST_SLICES);
  }

  clear(): void {
    this.#words.fill(0);
  }

  get slices(): number {
    return this.#job[SLICES]!;
  }

  // The caller's side: `constants` are written, a job is begun, its arguments are moved, and
  // it is opened and closed.

  /** `length` elements in slices of `sliceLength`. */
  begin(task: Task, length: number, sliceLength: number): this {
    const slices = Math.ceil(length / sliceLength);
    if (slices > MOST_SLICES) throw new Error(`internal: ${slices} slices of a vector`);
    const job = this.#job;
    job[TASK] = TASKS.indexOf(task);
    job[LENGTH] = length;
    job[SLICE_LENGTH] = sliceLength;
    job[SLICES] = slices;
    return this;
  }

  /** The argument's increments per slice, per element of a slice, per thread. */
  move(place: number, perSlice: number, perElement: number, perThread: number): void {
    this.#job[PER_SLICE + place] = perSlice;
    this.#job[PER_ELEMENT + place] = perElement;
    this.#job[PER_THREAD + place] = perThread;
  }

  open(helpers: number): void {
    const words = this.#words;
    Atomics.store(words, NEXT, 0);
    Atomics.store(words, JOB, (Atomics.load(words, JOB) + 1) & JOB_MASK);
    Atomics.notify(words, JOB, helpers);
  }

  /**
   * Ends the job once all its slices, which must all be taken, are done.
   * @returns false if the last slices did not finish within `patience` waits of one
   * second
   */
  close(patience: number): boolean {
    const words = this.#words;
    // If the caller failed, no thread may take the remaining slices.
    Atomics.store(words, NEXT, MOST_SLICES);
    Atomics.store(words, JOB, (Atomics.load(words, JOB) + 1) & JOB_MASK);
    for (let i = 0; i < this.#spins; i++) {
      if (Atomics.load(words, ACTIVE) === 0) return true;
    }
    // Counts waits, not time, so that a process that was stopped for a while is not
    // late.
    for (let vain = 0; vain < patience;) {
      const active = Atomics.load(words, ACTIVE);
      if (active === 0) return true;
      if (Atomics.wait(words, ACTIVE, active, 1000) === 'timed-out') vain++;
    }
    return false;
  }

  /** Threads that are working on the job, without the caller. */
  get active(): number {
    return Atomics.load(this.#words, ACTIVE);
  }

  /** Whether every slice of the job has been taken. */
  get allTaken(): boolean {
    return Atomics.load(this.#words, NEXT) >= this.slices;
  }

  /** Number of the last thread whose kernel trapped; 0: none. */
  get failed(): number {
    return Atomics.load(this.#words, FAILED);
  }

  /** Tells the threads to exit. */
  end(): void {
    Atomics.store(this.#words, JOB, ENDED);
    Atomics.notify(this.#words, JOB);
  }

  // Any thread's side.

  /** Takes slices of the open job until there are none. `thread`: 0 is the caller. */
  takeSlices(exports: KernelExports, thread: number): void {
    const words = this.#words;
    const job = this.#job;
    const slices = job[SLICES]!;
    let slice = Atomics.add(words, NEXT, 1);
    if (slice >= slices) return;
    const kernel = exports[TASKS[job[TASK]!]!] as unknown as AnyKernel;
    const sliceLength = job[SLICE_LENGTH]!;
    for (; slice < slices; slice = Atomics.add(words, NEXT, 1)) {
      const length = Math.min(sliceLength, job[LENGTH]! - slice * sliceLength);
      // A kernel ignores arguments beyond its own.
      const result = kernel(
        this.#value(0, slice, length, thread),
        this.#value(1, slice, length, thread),
        this.#value(2, slice, length, thread),
        this.#value(3, slice, length, thread),
        this.#value(4, slice, length, thread),
        this.#value(5, slice, length, thread),
        this.#value(6, slice, length, thread),
        this.#value(7, slice, length, thread),
        this.#value(8, slice, length, thread),
        this.#value(9, slice, length, thread),
        this.#value(10, slice, length, thread),
        this.#value(11, slice, length, thread),
        this.#value(12, slice, length, thread),
        this.#value(13, slice, length, thread),
        this.#value(14, slice, length, thread),
        this.#value(15, slice, length, thread),
      );
      if (result !== undefined) this.results[slice] = result;
    }
  }

  /** The loop of a kernel thread until the board ends. */
  serve(exports: KernelExports, thread: number): void {
    const words = this.#words;
    let finished = -2;
    for (;;) {
      const job = Atomics.load(words, JOB);
      if (job === ENDED) return;
      if ((job & 1) === 0 || job === finished) {
        this.#awaitChange(job);
        continue;
      }
      Atomics.add(words, ACTIVE, 1);
      try {
        finished = Atomics.load(words, JOB);
        if (finished > 0 && (finished & 1) === 1) this.takeSlices(exports, thread);
      } catch (error) {
        Atomics.store(words, FAILED, thread);
        throw error;
      } finally {
        Atomics.sub(words, ACTIVE, 1);
        Atomics.notify(words, ACTIVE);
      }
    }
  }

  #awaitChange(job: number): void {
    for (let i = 0; i < this.#spins; i++) {
      if (Atomics.load(this.#words, JOB) !== job) return;
    }
    Atomics.wait(this.#words, JOB, job);
  }

  #value(place: number, slice: number, length: number, thread: number): number {
    const job = this.#job;
    const constant = job[CONSTANTS + place]!;
    const perSlice = job[PER_SLICE + place]!;
    const perElement = job[PER_ELEMENT + place]!;
    const perThread = job[PER_THREAD + place]!;
    // Return constants untouched: adding 0 would turn −0 into +0.
    if (perSlice === 0 && perElement === 0 && perThread === 0) return constant;
    return constant + perSlice * slice + perElement * length + perThread * thread;
  }
}
