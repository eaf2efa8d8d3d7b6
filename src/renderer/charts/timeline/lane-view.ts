/**
 * The lanes of a timeline that a box shows which is less high than all of them and scrolls. The
 * axis stays at its top. Pixels; a canvas as high as the lanes of a thousand ranks would be none.
 */
export const LANE_HEIGHT = 26;
export const AXIS_HEIGHT = 20;
/** Room between the spans of two lanes. */
export const GAP = 4;

interface LaneView {
  /** Pixels that are scrolled away. */
  readonly scrolled: number;
  /** Pixels of the box, with the axis. */
  readonly height: number;
}

/** The first lane in view, and the one after the last. */
export interface LanesInView {
  readonly first: number;
  readonly end: number;
}

/** The height at which all lanes are in view. */
export const heightOf = (lanes: number): number =>
  AXIS_HEIGHT + lanes * LANE_HEIGHT + GAP;

/** The top of a lane, from that of the box. */
export const topOf = (lane: number, { scrolled }: Pick<LaneView, 'scrolled'>): number =>
  AXIS_HEIGHT + lane * LANE_HEIGHT - scrolled;

/** Lanes of which at least a pixel is in view. */
export function lanesInView(
  lanes: number,
  { height, scrolled }: LaneView,
): LanesInView {
  const first = Math.min(lanes, Math.max(0, Math.floor(scrolled / LANE_HEIGHT)));
  const end = Math.ceil((scrolled + height - AXIS_HEIGHT) / LANE_HEIGHT);
  return { first, end: Math.max(first, Math.min(lanes, end)) };
}

/** The lane at a height of the box; undefined: on the axis, or below the last one. */
export function laneAt(
  y: number,
  { scrolled }: Pick<LaneView, 'scrolled'>,
  lanes: number,
): number | undefined {
  if (y < AXIS_HEIGHT) return undefined;
  const lane = Math.floor((y - AXIS_HEIGHT + scrolled) / LANE_HEIGHT);
  // A box may be scrolled beyond its top for a moment.
  return lane >= 0 && lane < lanes ? lane : undefined;
}

/** The first lane from here on, up or down, in which there is a span; undefined: there is none. */
export function laneWithSpans(
  { lanes }: { readonly lanes: readonly { readonly starts: ArrayLike<number> }[] },
  from: number,
  step: number,
): number | undefined {
  let lane = from;
  while (lanes[lane]?.starts.length === 0) lane += step;
  return lanes[lane] === undefined ? undefined : lane;
}

/** Pixels to scroll away so that a lane is in view as a whole, as near as possible to now. */
export function scrolledTo(lane: number, { height, scrolled }: LaneView): number {
  const top = lane * LANE_HEIGHT;
  const least = top + LANE_HEIGHT + GAP + AXIS_HEIGHT - height;
  return Math.max(0, Math.min(top, Math.max(scrolled, least)));
}
