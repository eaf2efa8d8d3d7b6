/**
 * What assembly/selection.ts and assembly/sliced-selection.ts export for selections on
 * several threads.
 */
export interface SelectionSteps {
  kthLargest(x: number, n: number, k: number, bins: number): number;
  missingTies(): number;
  compact(
    x: number,
    n: number,
    threshold: number,
    equal: number,
    limit: number,
    first: number,
    indices: number,
    values: number,
  ): number;
  countTop(x: number, n: number, bins: number): void;
  foldTop(bins: number): void;
  countBelow(x: number, n: number, shift: number, prefix: number, bins: number): void;
  addBins(bins: number, from: number, count: number): void;
  descend(bins: number, count: number, k: number): number;
  sampleStride(n: number, sampleSize: number): number;
  takeSample(x: number, count: number, stride: number, out: number): void;
  nameCandidates(positions: number, count: number, indices: number): void;
  countAtLeast(x: number, n: number, threshold: number, record: number): void;
  compactSlice(
    x: number,
    n: number,
    threshold: number,
    first: number,
    record: number,
    indices: number,
    values: number,
  ): void;
  collectSlice(
    x: number,
    n: number,
    threshold: number,
    first: number,
    record: number,
    cursor: number,
    total: number,
    capacity: number,
    indices: number,
    values: number,
  ): void;
  placeSlice(record: number, indices: number, values: number): void;
}
