/** Addresses that hold on one link: `169.254.0.0/16`, and `fe80::/10`, which needs a zone. */
export const isLinkLocal = (address: string): boolean =>
  /^(fe[89ab][0-9a-f]:|169\.254\.)/i.test(address);
