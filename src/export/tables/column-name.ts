/** A field's name as columns have it: `phases.residualNorm` is `phases_residual_norm`. */
export const snakeCase = (path: string): string =>
  path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
