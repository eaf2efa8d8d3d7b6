/** `threshold` on the GPU: all entries that reach a fixed magnitude. */
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import { FeedbackOnDevice, type SelectionOnDevice } from './device-feedback.ts';
import type { CreateOnDevice, DeviceContext } from './device-method.ts';

interface Parameters {
  readonly threshold: number;
  readonly warmupIterations: number;
}

export const thresholdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const { device, length, parameters } = typed;
  if (!isBindable(typed, length)) return undefined;
  return withDeviceWarmUp(typed, () => {
    const entries = device.selection(length, length);
    const selection: SelectionOnDevice = {
      capacity: length,
      select: (p, _iteration, clear) =>
        entries.selectAtLeast(p, parameters.threshold, clear),
      [Symbol.dispose]: () => {
        entries[Symbol.dispose]();
      },
    };
    return new FeedbackOnDevice('threshold', typed, selection);
  });
};
