/** Places of values in a picture, in pixels. */
export interface Place {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly floor: number;
}

/** Rounds pixels: a hundredth is finer than any print. */
export const round = (value: number): number => Math.round(value * 100) / 100;
