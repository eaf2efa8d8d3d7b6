/**
 * The moment at which a foreseen switch would take effect, in words.
 * @param fence the earliest iteration, as it was when the machine was asked
 * @param iteration that the run has come to since
 */
export const effectMoment = (fence: number, iteration: number): string =>
  iteration < fence
    ? `at iteration ${fence} at the earliest`
    : 'a few iterations after you switch';
