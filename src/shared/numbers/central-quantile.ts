/**
 * The half-widths of central intervals: of Student's t distribution with some degrees of freedom,
 * and of the normal distribution, its limit. By Simpson's rule and bisection, to six digits: there
 * are few calls.
 */

/** Panels of Simpson's rule, even. */
const PANELS = 512;
const BISECTIONS = 60;
/** The normal density beyond is below 1e-15. */
const FAR_OUT = 8.5;

/** The q with P(|T| ≤ q) = level. */
export function studentQuantile(freedom: number, level: number): number {
  // With T = √ν tan θ, θ has the density cos^(ν − 1).
  const angle = centralQuantile(
    (at) => Math.cos(at) ** (freedom - 1),
    Math.PI / 2,
    level,
  );
  return Math.sqrt(freedom) * Math.tan(angle);
}

export const normalQuantile = (level: number): number =>
  centralQuantile((at) => Math.exp((-at * at) / 2), FAR_OUT, level);

/** @param density symmetric, up to a factor; nothing of it lies beyond `reach` */
function centralQuantile(
  density: (at: number) => number,
  reach: number,
  level: number,
): number {
  const wanted = level * integral(density, reach);
  let [low, high] = [0, reach];
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (integral(density, middle) < wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The integral from 0 to an end. */
function integral(density: (at: number) => number, end: number): number {
  const panel = end / PANELS;
  let sum = density(0) + density(end);
  for (let at = 1; at < PANELS; at++)
    sum += (at % 2 === 0 ? 2 : 4) * density(at * panel);
  return (sum * panel) / 3;
}
