/**
 * What goes on between the host and a GPU, counted at the device itself: bytes that were
 * mapped to be read, and buffers that are alive. Whoever allocates on the device, jax-js or
 * the kernels, is counted.
 */
export class DeviceTraffic {
  /** Mappings for reading. */
  reads = 0;
  /** Their bytes. */
  mapped = 0;
  /** Of buffers that have not been destroyed. */
  liveBytes = 0;
  liveBuffers = 0;

  constructor(device: GPUDevice) {
    const create = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => this.#count(create(descriptor));
  }

  #count(buffer: GPUBuffer): GPUBuffer {
    const { size } = buffer;
    this.liveBytes += size;
    this.liveBuffers++;
    let alive = true;
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      if (alive) {
        this.liveBytes -= size;
        this.liveBuffers--;
      }
      alive = false;
      return destroy();
    };
    const map = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = (mode, offset, length) => {
      if (mode === GPUMapMode.READ) {
        this.reads++;
        this.mapped += length ?? size - (offset ?? 0);
      }
      return map(mode, offset, length);
    };
    return buffer;
  }
}
