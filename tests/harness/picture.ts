/** Pictures of a page in two themes, compared: what is to be seen in one must be seen in the other. */
import type { Page } from 'playwright-core';

/** A picture in blocks of `BLOCK` × `BLOCK` pixels, row by row. */
export interface Blocks {
  readonly columns: number;
  /** The contrast within each block, as WCAG defines it between two colours: 1 … 21. */
  readonly contrasts: readonly number[];
  /** The colour of the first pixel: `rgb(13, 17, 21)`. */
  readonly corner: string;
}

export const BLOCK = 8;

/** @param blank a page whose policy lets scripts of tests read pictures, such as about:blank */
export async function blocksOf(blank: Page, png: Buffer): Promise<Blocks> {
  return await blank.evaluate(measure, { data: png.toString('base64'), size: BLOCK });
}

/** The part of the browser's API that is needed, where this function runs. */
interface Canvas {
  getContext(kind: '2d'): {
    drawImage(bitmap: Bitmap, x: number, y: number): void;
    getImageData(...range: [x: number, y: number, width: number, height: number]): {
      readonly data: Uint8ClampedArray;
    };
  };
}
interface Bitmap {
  readonly width: number;
  readonly height: number;
}
declare const OffscreenCanvas: new (width: number, height: number) => Canvas;
declare const createImageBitmap: (blob: Blob) => Promise<Bitmap>;

async function measure(picture: { data: string; size: number }): Promise<Blocks> {
  const bytes = Uint8Array.from(atob(picture.data), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { height, width } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const linear = Array.from({ length: 256 }, (_, value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = (at: number): number =>
    0.2126 * linear[data[at]!]! +
    0.7152 * linear[data[at + 1]!]! +
    0.0722 * linear[data[at + 2]!]!;
  const { size } = picture;
  const columns = Math.floor(width / size);
  const contrasts: number[] = [];
  for (let row = 0; row < Math.floor(height / size); row++) {
    for (let column = 0; column < columns; column++) {
      let [darkest, lightest] = [1, 0];
      for (let y = row * size; y < (row + 1) * size; y++) {
        for (let x = column * size; x < (column + 1) * size; x++) {
          const seen = luminance(4 * (y * width + x));
          darkest = Math.min(darkest, seen);
          lightest = Math.max(lightest, seen);
        }
      }
      contrasts.push((lightest + 0.05) / (darkest + 0.05));
    }
  }
  return { columns, contrasts, corner: `rgb(${data[0]}, ${data[1]}, ${data[2]})` };
}

/** Blocks with something in one picture and nothing beside it in the other: `x 480, y 96`. */
export function lostIn(seen: Blocks, other: Blocks): readonly string[] {
  return seen.contrasts.flatMap((contrast, at) => {
    const around = [-1, 0, 1].flatMap((row) =>
      [-1, 0, 1].map(
        (column) => other.contrasts[at + row * seen.columns + column] ?? 1,
      ),
    );
    if (contrast < VISIBLE || Math.max(...around) >= FAINT) return [];
    const row = Math.floor(at / seen.columns);
    return [
      `${contrast.toFixed(2)} against ${Math.max(...around).toFixed(2)} at x ${(at % seen.columns) * BLOCK}, y ${row * BLOCK}`,
    ];
  });
}

/** Contrasts of what anybody sees, and of what somebody may miss. */
const VISIBLE = 3;
const FAINT = 1.6;
