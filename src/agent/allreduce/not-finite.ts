/** What is not finite in a vector. */
export interface NotFinite {
  /** How many elements are NaN or infinite. */
  readonly count: number;
  /** The first of them, and its value. */
  readonly index: number;
  readonly value: 'NaN' | 'Infinity' | '-Infinity';
}
