/** The one thing that a GPU may lack: that its kernels can bind so much at once. */
import type { DeviceContext } from './device-method.ts';

/** Whether a binding can hold an array of this many 4-byte words. */
export function isBindable({ device }: DeviceContext, words: number): boolean {
  return 4 * words <= device.gpu.bindableBytes;
}
