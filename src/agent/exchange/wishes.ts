/** The wishes of ranks after an iteration; the highest wish of any rank wins. */

export const GO_ON = 0;
/** The rank has no more gradients: its program ends. */
export const END = 1;
export const STOP = 2;
export const PAUSE = 3;

export const wishes = (
  agreed: number,
): { readonly end: boolean; readonly stop: boolean; readonly pause: boolean } => ({
  end: agreed === END,
  stop: agreed === STOP,
  pause: agreed === PAUSE,
});
