/** Colours of a heat map: from the surface to the accent, so that both themes keep their contrast. */
import type { Palette } from '../palette.ts';

/** A colour by a share of the scale, 0…1; beyond it: its end. */
export type HeatColour = (share: number) => string;

const STEPS = 32;
/** The share of the accent in the colour of the least value, so that it differs from nothing. */
const LEAST = 0.06;

type Rgb = readonly [number, number, number];

export function heatColours({ accent, surface }: Palette): HeatColour {
  const [from, to] = [rgb(surface), rgb(accent)];
  const colours = Array.from({ length: STEPS + 1 }, (_, step) => {
    const share = LEAST + (1 - LEAST) * (step / STEPS);
    const mixed = from.map((value, index) =>
      Math.round(value + share * (to[index]! - value)),
    );
    return `rgb(${mixed.join(', ')})`;
  });
  return (share) => colours[Math.round(Math.max(0, Math.min(1, share)) * STEPS)]!;
}

/** The parts of `#rrggbb` or `#rgb`. */
function rgb(colour: string): Rgb {
  const digits = colour.replace('#', '');
  const size = digits.length < 6 ? 1 : 2;
  const part = (index: number): number => {
    const text = digits.slice(index * size, (index + 1) * size);
    return Number.parseInt(size === 1 ? text + text : text, 16);
  };
  return [part(0), part(1), part(2)];
}
