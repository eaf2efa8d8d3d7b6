/** Faults of a device, as its events and its loss tell them. */
import { expect, test } from 'vitest';
import { DeviceFaults } from '../../../src/agent/kernels/webgpu/device-faults.ts';

// Dawn's errors are known by the names of their classes.
class GPUOutOfMemoryError extends Error {}
class GPUValidationError extends Error {}

/** A device that only fails. */
class FailingDevice extends EventTarget {
  readonly #loss = Promise.withResolvers<{ readonly message: string }>();
  readonly lost = this.#loss.promise;
  readonly faults = new DeviceFaults(this as unknown as GPUDevice, 'A GPU');

  fail(error: Error): void {
    this.dispatchEvent(Object.assign(new Event('uncapturederror'), { error }));
  }

  lose(): void {
    this.#loss.resolve({ message: 'it fell off the bus' });
  }
}

const lost = expect.objectContaining({
  code: 'GPU_LOST',
  message: 'the GPU is lost: it fell off the bus',
  place: 'A GPU',
}) as Error;

test('a lack of memory is a coded error, whatever fails after it', () => {
  const device = new FailingDevice();
  device.faults.check();
  device.fail(new GPUOutOfMemoryError('no room for a buffer'));
  device.fail(new GPUValidationError('the buffer is invalid'));
  expect(() => {
    device.faults.check();
  }).toThrow(
    expect.objectContaining({
      code: 'GPU_MEMORY',
      message: 'the GPU has no memory left: no room for a buffer',
      place: 'A GPU',
    }),
  );
});

test('results that are there are not given after a command has failed', async () => {
  const device = new FailingDevice();
  await expect(device.faults.watch(() => 1)).resolves.toBe(1);
  const zeros = device.faults.watch(async () => {
    await Promise.resolve();
    device.fail(new GPUValidationError('the buffer is invalid'));
    return 0;
  });
  await expect(zeros).rejects.toThrow('internal: WebGPU: the buffer is invalid');
});

test('a loss explains what fails before it is known', async () => {
  const device = new FailingDevice();
  const waiting = device.faults.watch(() => {
    setImmediate(() => {
      device.lose();
    });
    throw new DOMException('', 'AbortError');
  });
  await expect(waiting).rejects.toThrow(lost);
});

test('other errors stay what they are', async () => {
  const { faults } = new FailingDevice();
  const thrown = new Error('of the model');
  await expect(faults.watch(() => Promise.reject(thrown))).rejects.toBe(thrown);
});

test('an owner who closes it may destroy the device', async () => {
  const device = new FailingDevice();
  device.faults.close();
  device.lose();
  device.fail(new GPUValidationError('destroyed'));
  await expect(device.faults.watch(() => 1)).resolves.toBe(1);
});
