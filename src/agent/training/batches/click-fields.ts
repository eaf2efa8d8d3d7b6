/** The shape of a click log, as Criteo's have it: what every data set of clicks gives. */

/** Columns of numbers. */
export const DENSE_COLUMNS = 13;
/** Columns of categories. */
export const CATEGORY_COLUMNS = 26;
