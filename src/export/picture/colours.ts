/** Colours of pictures: those that the page has in its light theme (`styles/tokens.css`). */
import type { Phase } from '../../shared/records/phases.ts';

export const PHASE_COLOURS: Readonly<Record<Phase, string>> = {
  data: '#a3adb7',
  compute: '#0072b2',
  forward: '#0072b2',
  backward: '#6669b4',
  activations: '#a6611a',
  bubble: '#f0e442',
  compress: '#009e73',
  send: '#d55e00',
  receive: '#9147d8',
  wait: '#e69f00',
  reduce: '#56b4e9',
  decompress: '#cc79a7',
  apply: '#74808c',
  other: '#c0c8cf',
};

/** Colours of configurations that are compared, in their order. */
export const RUN_COLOURS = [
  '#0072b2',
  '#d55e00',
  '#00845f',
  '#b87a00',
  '#b3568a',
  '#2b8cc4',
  '#17202a',
] as const;

/** The colour of texts, and of signs on top of data. */
export const INK_COLOUR = '#17202a';

/** The colour of what is only there to compare with. */
export const SOFT_COLOUR = '#4b5865';

/** Colours of signs at moments of a run. */
export const MARKER_COLOURS = {
  switch: INK_COLOUR,
  fault: '#b3261e',
  stall: '#815000',
  checkpoint: '#0b6e4f',
  evaluation: PHASE_COLOURS.wait,
  note: '#0b63a5',
} as const;

/** The line between two phases of a bar. */
export const EDGE_COLOUR = '#101820';

/** The lines of a hatched bar. */
export const HATCH_COLOUR = '#ffffff';
