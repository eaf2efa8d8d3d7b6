/** What ranks want after an iteration: they do what is the highest that one of them says. */

export const GO_ON = 0;
export const STOP = 1;
export const PAUSE = 2;

export const wishes = (
  agreed: number,
): { readonly stop: boolean; readonly pause: boolean } => ({
  stop: agreed === STOP,
  pause: agreed === PAUSE,
});
