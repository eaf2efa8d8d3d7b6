/** The cores of a simulated machine: whoever wants one runs for a slice, then it is the next one's turn. */
import type { Agenda } from './agenda.ts';

interface Task {
  left: number;
  readonly done: () => void;
}

export class Processor {
  readonly #agenda: Agenda;
  readonly #slice: number;
  readonly #draw: () => number;
  /** Tasks that have had no slice yet, in any order, and those that have, in order. */
  readonly #woken: Task[] = [];
  readonly #waiting: Task[] = [];
  #free: number;

  /** @param slice milliseconds */
  constructor(agenda: Agenda, cores: number, slice: number, draw: () => number) {
    this.#agenda = agenda;
    this.#free = cores;
    this.#slice = slice;
    this.#draw = draw;
  }

  /** Runs for that many milliseconds of a core. */
  work(time: number, done: () => void): void {
    // Whoever slept comes before those that have used their slice, as in Linux.
    this.#woken.push({ left: time, done });
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#free > 0) {
      const [woken] = this.#woken.splice(
        Math.floor(this.#draw() * this.#woken.length),
        1,
      );
      const task = woken ?? this.#waiting.shift();
      if (task === undefined) return;
      this.#free -= 1;
      const time = Math.min(task.left, this.#slice);
      this.#agenda.at(this.#agenda.now + time, () => {
        this.#free += 1;
        task.left -= time;
        if (task.left > 0) this.#waiting.push(task);
        else task.done();
        this.#dispatch();
      });
    }
  }
}
