/** The wishes of ranks after an iteration; the highest wish of any rank wins. */

export const GO_ON = 0;
export const STOP = 1;
export const PAUSE = 2;

export const wishes = (
  agreed: number,
): { readonly stop: boolean; readonly pause: boolean } => ({
  stop: agreed === STOP,
  pause: agreed === PAUSE,
});
