/**
 * Markers in all charts of a run. A kind is an entry here, and says how it looks and which
 * events it marks.
 */
import { eventText, type RunEvent } from '../../shared/records/record-kinds.ts';
import type { RunNote } from '../../shared/run-query/run-note.ts';
import { escapeControls } from '../../shared/words/printable.ts';
import { labelBeside } from '../../shared/plan/exchange-plan.ts';
import { isStall } from './rank-stalls.ts';

/** `fence`: a line before its iteration, with a label. The others have a sign at the axis. */
type Sign = 'fence' | 'cross' | 'diamond' | 'disc' | 'square' | 'triangle';

interface MarkerStyle {
  readonly title: string;
  readonly sign: Sign;
  /** A custom property of the style sheet. */
  readonly property: string;
}

export const MARKER_STYLES = {
  switch: { title: 'switch', sign: 'fence', property: '--ink' },
  fault: { title: 'fault', sign: 'cross', property: '--bad' },
  stall: {
    title: 'rank suspended, silent or back',
    sign: 'diamond',
    property: '--warn',
  },
  checkpoint: { title: 'checkpoint', sign: 'square', property: '--good' },
  evaluation: { title: 'evaluation', sign: 'disc', property: '--phase-wait' },
  note: { title: 'note', sign: 'triangle', property: '--accent' },
} as const satisfies Readonly<Record<string, MarkerStyle>>;

export type MarkerKind = keyof typeof MARKER_STYLES;

export interface Marker {
  readonly kind: MarkerKind;
  /** The iteration that is marked; for a fence the first one under the new plan. */
  readonly iteration: number;
  readonly label: string;
}

/** Characters of a note or a message that its marker says. */
const SHOWN = 80;

const shortened = (text: string): string =>
  text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;

/** An event's marker; most kinds of events have none. */
function kindOf(event: RunEvent): MarkerKind | undefined {
  switch (event.type) {
    case 'switch':
    case 'checkpoint':
    case 'evaluation':
      return event.type;
    case 'interrupted':
    case 'restarted':
    case 'failed':
      return 'fault';
    default:
      return isStall(event) ? 'stall' : undefined;
  }
}

type IterationAt = (at: number) => number | undefined;

/** The iteration near which an event is marked that names none itself. */
export function nearIterationOf(
  event: RunEvent,
  iterationAt: IterationAt,
): number | undefined {
  if (kindOf(event) === undefined || eventText(event).iteration !== undefined)
    return undefined;
  return iterationAt(event.at);
}

function labelOf(event: RunEvent): string {
  if (event.type === 'switch') return labelBeside(event.to, event.from);
  // A notice's title is that of all notices; what is to be done follows after the colon.
  return event.type === 'notice'
    ? escapeControls(shortened(event.message.split(':')[0]!))
    : eventText(event).title;
}

/**
 * The markers of a run's events and notes, ascending. All nodes write a checkpoint of the same
 * iteration: that is one marker.
 * @param iterationAt the iteration at a moment, for events that name none
 */
export function markersOf(
  events: readonly RunEvent[],
  iterationAt: IterationAt,
  notes: readonly RunNote[] = [],
): readonly Marker[] {
  const markers = new Map<string, Marker>();
  for (const event of events) {
    const kind = kindOf(event);
    if (kind === undefined) continue;
    const iteration =
      event.type === 'switch'
        ? event.fence
        : (eventText(event).iteration ?? nearIterationOf(event, iterationAt));
    if (iteration === undefined) continue;
    const label = labelOf(event);
    markers.set(`${kind} ${iteration} ${label}`, { kind, iteration, label });
  }
  for (const { id, iteration, text } of notes) {
    if (iteration === undefined) continue;
    const label = escapeControls(shortened(text.split('\n')[0]!));
    markers.set(`note ${id}`, { kind: 'note', iteration, label });
  }
  return [...markers.values()].toSorted((a, b) => a.iteration - b.iteration);
}
