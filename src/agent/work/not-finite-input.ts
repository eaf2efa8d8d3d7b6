/**
 * Error of a method that finds a NaN or an infinity in a pass that it makes anyway. The residual is
 * then invalid, which does not matter because the run ends.
 */
export class NotFiniteInput extends Error {
  /** The first element that is NaN or infinite. */
  readonly index: number;
  readonly value: number;

  constructor(index: number, value: number) {
    super(`element ${index} of the gradient is ${value}`);
    this.index = index;
    this.value = value;
  }
}
