/** A text in which no line ends between a number and its unit. */

const BEFORE_UNIT = /(?<=\d) (?=%|[nµm]?s\b|[kMGT]?B\b|[kMGT]?bit\b)/g;
const NO_BREAK = '\u00a0';

export const unbroken = (text: string): string =>
  text.replaceAll(BEFORE_UNIT, NO_BREAK);
