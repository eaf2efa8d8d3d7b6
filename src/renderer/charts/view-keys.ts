/** Keys that change the view of a run's charts, the same as in a timeline. */
import type { KeyStroke } from '../state/page/shortcut.ts';
import type { ChartView } from './chart-view.svelte.ts';

/** The factor by which a key zooms, and the share by which it moves. */
const ZOOM = 0.75;
const MOVE = 0.2;

const around = ({ cursor, range }: ChartView): number =>
  cursor.iteration ?? (range.from + range.to) / 2;

const KEYS: Readonly<Partial<Record<string, (view: ChartView) => void>>> = {
  w: (view) => view.zoom(ZOOM, around(view)),
  s: (view) => view.zoom(1 / ZOOM, around(view)),
  a: (view) => view.move(-MOVE),
  d: (view) => view.move(MOVE),
  f: (view) => view.fit(),
  p: (view) => view.pause(!view.isPaused),
  '+': (view) => view.step('in'),
  '=': (view) => view.step('in'),
  '-': (view) => view.step('out'),
  PageUp: (view) => view.step('earlier'),
  PageDown: (view) => view.step('later'),
};

/**
 * Acts on a key.
 * @param pin pins what is drawn at a place
 * @returns whether it is one of these
 */
export function viewKeys(
  view: ChartView,
  event: Pick<KeyStroke, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>,
  pin = (place: number): void => view.pin(place),
): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === 'Enter') {
    pin(around(view));
    return true;
  }
  if (event.key === 'Escape') {
    if (view.pinned !== undefined) {
      view.unpin();
      return true;
    }
    // Nothing to go back to: the chart puts the cursor away.
    if (!view.hasEarlier) return false;
    view.back();
    return true;
  }
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  act?.(view);
  return act !== undefined;
}
