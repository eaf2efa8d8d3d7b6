/** Elements of a vector that are not finite. */
export interface NotFinite {
  /** Number of elements that are NaN or infinite. */
  readonly count: number;
  /** The first of them, and its value. */
  readonly index: number;
  readonly value: 'NaN' | 'Infinity' | '-Infinity';
}
