/**
 * The CPU kernels, compiled by AssemblyScript to one WebAssembly module with SIMD. Every
 * argument is a byte address or an element count in the imported shared memory; there are
 * no managed objects and no static data, so that instances of several threads can share
 * one memory. Further results of a call are in module globals, of which each instance has
 * its own. `../kernel-exports.ts` has the kinds of the arguments.
 */
export { add, blend, copy, fill, scale, shiftBySign } from './elementwise';
export { eliasDecode, eliasEncode } from './elias';
export { storeFixedSums } from './fixed-point';
export { addHalves, firstSpecial, narrow, narrowRandomly, widen } from './half-precision';
export { zero } from './held';
export { gatherAt, sampleIndices } from './indexed';
export { addProduct, timesFactor, transposedTimesFactor } from './low-rank';
export { decodeBlocks, encodeBlocks, encodeBlocksRandomly, firstAbove } from './microscaling';
export { stepAdagrad, stepAdam, stepMomentum, stepPlain } from './optimization';
export { dequantize, largestLevel, maximum, quantize } from './quantize';
export {
  addFinite,
  centralSum,
  copyFinite,
  firstNonFinite,
  minusMean,
  plusMean,
  squaredDistance,
  squaredNorm,
  storeSignSums,
  twoMeans,
} from './reductions';
export {
  addBins,
  compact,
  countBelow,
  countTop,
  descend,
  foldTop,
  kthLargest,
  missingTies,
  nameCandidates,
  sampleStride,
  selectAll,
  selectByRadix,
  selectBySample,
  takeSample,
} from './selection';
export { dequantizeSigns, quantizeSigns } from './sign-means';
export {
  collectSlice,
  compactSlice,
  countAtLeast,
  placeSlices,
} from './sliced-selection';
export { clearAt, scatterAdd } from './sparse-stream';
export {
  combine,
  combine64,
  firstDisordered,
  merge,
  merge64,
  scatter,
  scatter64,
} from './stream-reduction';
export { appendAtLeast, kthMagnitude, selectTopKPerRun } from './threshold-selection';
export { transpose } from './transpose';
