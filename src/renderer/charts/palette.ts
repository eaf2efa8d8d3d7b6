/**
 * The style sheet's colours as a chart needs them, read once per theme: canvases cannot
 * read custom properties.
 */
import { phasePattern, type Pattern } from '../../export/picture/phase-patterns.ts';
import { PHASES, type Phase } from '../../shared/records/phases.ts';
import { MARKER_STYLES, type MarkerKind } from './markers.ts';
import { hatchFill, patternFill } from './pattern-fill.ts';
import { PHASE_STYLES } from './phase-style.ts';

type Fill = string | CanvasPattern;

export interface Palette {
  readonly ink: string;
  readonly soft: string;
  readonly grid: string;
  readonly surface: string;
  readonly accent: string;
  readonly phases: Readonly<Record<Phase, string>>;
  /** Lines between phases. */
  readonly edge: string;
  /** Patterns of the fills. */
  readonly patterns: Readonly<Record<Phase, Pattern>>;
  readonly fills: Readonly<Record<Phase, Fill>>;
  readonly markers: Readonly<Record<MarkerKind, string>>;
  readonly hatch: Fill;
  readonly font: string;
}

let kept: { readonly key: string; readonly palette: Palette } | undefined;

export function readPalette(scheme: 'dark' | 'light', patterns: boolean): Palette {
  const key = `${scheme} ${patterns}`;
  if (kept?.key === key) return kept.palette;
  const style = getComputedStyle(document.documentElement);
  const read = (property: string): string => style.getPropertyValue(property).trim();
  const phases = Object.fromEntries(
    PHASES.map((phase) => [phase, read(PHASE_STYLES[phase].property)]),
  ) as Record<Phase, string>;
  const ink = read('--hatch');
  const shown = Object.fromEntries(
    PHASES.map((phase) => [phase, phasePattern(phase, patterns)]),
  ) as Record<Phase, Pattern>;
  const palette: Palette = {
    ink: read('--ink'),
    soft: read('--ink-soft'),
    grid: read('--grid'),
    surface: read('--surface'),
    accent: read('--accent'),
    phases,
    edge: read('--phase-edge'),
    patterns: shown,
    fills: Object.fromEntries(
      PHASES.map((phase) => [phase, patternFill(phases[phase], shown[phase], ink)]),
    ) as Record<Phase, Fill>,
    markers: Object.fromEntries(
      Object.entries(MARKER_STYLES).map(([kind, { property }]) => [
        kind,
        read(property),
      ]),
    ) as Record<MarkerKind, string>,
    hatch: hatchFill(ink),
    font: read('--font'),
  };
  kept = { key, palette };
  return palette;
}

const colours = new Map<string, string>();

/** A colour of the style sheet in a theme. */
export function readColour(scheme: 'dark' | 'light', property: string): string {
  const key = `${scheme} ${property}`;
  const known = colours.get(key);
  if (known !== undefined) return known;
  const style = getComputedStyle(document.documentElement);
  const colour = style.getPropertyValue(property).trim();
  colours.set(key, colour);
  return colour;
}

/** A `#rrggbb` colour with an opacity of 0…1. */
export function translucent(colour: string, opacity: number): string {
  const value = Number.parseInt(colour.slice(1), 16);
  return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${opacity})`;
}
