/**
 * Draws pen strokes into a small greyscale image: every line segment darkens the pixels
 * near it by their distance, with a soft edge.
 */
export class Rasterizer {
  readonly width: number;
  readonly height: number;
  readonly #ink: Float32Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#ink = new Float32Array(width * height);
  }

  clear(): void {
    this.#ink.fill(0);
  }

  /**
   * A segment in pixel units, drawn with a round pen of the given radius. `softness` is
   * the width over which ink fades to nothing, centred on the pen's edge. Ink does not
   * add up: the darkest stroke over a pixel wins.
   */
  segment(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    radius: number,
    softness: number,
  ): void {
    const ink = this.#ink;
    const width = this.width;
    const reach = radius + softness / 2;
    const left = Math.max(0, Math.ceil(Math.min(x0, x1) - reach));
    const right = Math.min(width - 1, Math.floor(Math.max(x0, x1) + reach));
    const top = Math.max(0, Math.ceil(Math.min(y0, y1) - reach));
    const bottom = Math.min(this.height - 1, Math.floor(Math.max(y0, y1) + reach));
    const dx = x1 - x0;
    const dy = y1 - y0;
    const squared = dx * dx + dy * dy;
    const inverse = squared > 0 ? 1 / squared : 0;
    const limit = reach * reach;
    const slope = 1 / softness;
    for (let y = top; y <= bottom; y++) {
      const py = y - y0;
      for (let x = left, pixel = y * width + left; x <= right; x++, pixel++) {
        const px = x - x0;
        let along = (px * dx + py * dy) * inverse;
        along = along < 0 ? 0 : along > 1 ? 1 : along;
        const ex = px - along * dx;
        const ey = py - along * dy;
        const distance = ex * ex + ey * ey;
        if (distance >= limit) continue;
        const value = (reach - Math.sqrt(distance)) * slope;
        if (value > ink[pixel]!) ink[pixel] = value > 1 ? 1 : value;
      }
    }
  }

  /** Lift the ink in a disc to a share `keep` of what it was, with a soft rim. */
  erase(x: number, y: number, radius: number, keep: number): void {
    const left = Math.max(0, Math.ceil(x - radius));
    const right = Math.min(this.width - 1, Math.floor(x + radius));
    const top = Math.max(0, Math.ceil(y - radius));
    const bottom = Math.min(this.height - 1, Math.floor(y + radius));
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const distance = ((column - x) ** 2 + (row - y) ** 2) / (radius * radius);
        if (distance >= 1) continue;
        const pixel = row * this.width + column;
        this.#ink[pixel] = this.#ink[pixel]! * (keep + (1 - keep) * distance);
      }
    }
  }

  /**
   * The image as bytes (0 paper, 255 ink) at out[offset…]: ink times `gain` plus, per
   * pixel, noise of at most ±`grain`/2 from `noise`, which yields 32 random bits a
   * call, four pixels each.
   */
  write(
    out: Uint8Array,
    offset: number,
    gain: number,
    grain: number,
    noise: () => number,
  ): void {
    const ink = this.#ink;
    const scale = 255 * gain;
    const grainScale = grain;
    let bits = 0;
    for (let pixel = 0; pixel < ink.length; pixel++) {
      if ((pixel & 3) === 0) bits = noise();
      const value = ink[pixel]! * scale + ((bits & 255) - 127.5) * grainScale;
      bits >>>= 8;
      out[offset + pixel] = value <= 0 ? 0 : value >= 255 ? 255 : value;
    }
  }
}
