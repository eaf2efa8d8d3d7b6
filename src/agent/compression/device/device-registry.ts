/** The methods on a GPU, by id. */
import { dctOnDevice } from './device-dct.ts';
import { DeviceDense } from './device-dense.ts';
import { dgcOnDevice } from './device-dgc.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import { gaussiankOnDevice } from './device-gaussiank.ts';
import { onebitOnDevice } from './device-onebit.ts';
import { powersgdOnDevice } from './device-powersgd.ts';
import { randomkOnDevice } from './device-randomk.ts';
import { scalecomOnDevice } from './device-scalecom.ts';
import { qsgdOnDevice, terngradOnDevice } from './device-stochastic.ts';
import { thresholdOnDevice } from './device-threshold.ts';
import { topkOnDevice } from './device-topk.ts';
import { a2sgdOnDevice } from './device-two-means.ts';

const onDevice: ReadonlyMap<string, CreateOnDevice> = new Map<string, CreateOnDevice>([
  ['none', (context) => new DeviceDense(context)],
  ['topk', topkOnDevice],
  ['randomk', randomkOnDevice],
  ['threshold', thresholdOnDevice],
  ['gaussiank', gaussiankOnDevice],
  ['dct', dctOnDevice],
  ['dgc', dgcOnDevice],
  ['scalecom', scalecomOnDevice],
  ['powersgd', powersgdOnDevice],
  ['qsgd', qsgdOnDevice],
  ['terngrad', terngradOnDevice],
  ['onebit', onebitOnDevice],
  ['a2sgd', a2sgdOnDevice],
]);

/**
 * A method's compressor on the device; undefined where the method, these parameters or this
 * length have none.
 */
export function createOnDevice(
  method: string,
  context: DeviceContext,
): DeviceCompressor | undefined {
  return onDevice.get(method)?.(context);
}
