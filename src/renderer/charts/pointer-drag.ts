/** A pointer that is held on a chart, in pixels: a click as long as it has not gone far. */

/** Pixels that a pointer may move in a click. */
const SLACK = 4;

export class PointerDrag {
  /** The iteration where it began. */
  readonly from: number;
  /** Whether it moves the view, and does not select. */
  readonly moves: boolean;
  readonly #start: number;
  #x: number;
  #isClick = true;

  constructor(x: number, from: number, moves: boolean) {
    this.#start = this.#x = x;
    this.from = from;
    this.moves = moves;
  }

  /** Whether it has never been far from where it began, however small its steps were. */
  get isClick(): boolean {
    return this.#isClick;
  }

  /** Goes on to a pixel. @returns the step, and whether it is far from where it began */
  to(x: number): { readonly step: number; readonly isFar: boolean } {
    const isFar = Math.abs(x - this.#start) > SLACK;
    if (isFar) this.#isClick = false;
    const step = x - this.#x;
    this.#x = x;
    return { step, isFar };
  }
}
