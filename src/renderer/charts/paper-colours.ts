/** Colours of saved pictures: those of the style sheet's light theme, whatever the page has. */
import {
  INK_COLOUR,
  PHASE_COLOURS,
  RUN_COLOURS,
  SOFT_COLOUR,
} from '../../export/picture/colours.ts';
import { PHASES } from '../../shared/records/phases.ts';
import { PHASE_STYLES } from './phase-style.ts';

const COLOURS: ReadonlyMap<string, string> = new Map([
  ...PHASES.map(
    (phase) => [PHASE_STYLES[phase].property, PHASE_COLOURS[phase]] as const,
  ),
  ...RUN_COLOURS.map((colour, index) => [`--run-${index + 1}`, colour] as const),
  ['--ink-soft', SOFT_COLOUR],
]);

/** The light colour of a custom property that series have. */
export const paperColour = (property: string): string =>
  COLOURS.get(property) ?? INK_COLOUR;
