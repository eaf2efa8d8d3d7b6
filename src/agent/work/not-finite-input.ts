/**
 * A gradient with a NaN or an infinity, to a method that looks for them itself in a pass
 * that it makes anyway. The residual is lost with the run that this ends.
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
