/** The methods that a GPU does itself, by id. The others take their gradient to the CPU. */
import { DeviceDense } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import { qsgdOnDevice } from './device-qsgd.ts';
import { thresholdOnDevice, topkOnDevice } from './device-sparse.ts';
import { a2sgdOnDevice } from './device-two-means.ts';

const onDevice: ReadonlyMap<string, CreateOnDevice> = new Map<string, CreateOnDevice>([
  ['none', (context) => new DeviceDense(context)],
  ['topk', topkOnDevice],
  ['threshold', thresholdOnDevice],
  ['qsgd', qsgdOnDevice],
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
