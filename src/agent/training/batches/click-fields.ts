/** The shape of a click log, like Criteo's, for all data sets of clicks. */

/** Columns of numbers. */
export const DENSE_COLUMNS = 13;
/** Columns of categories. */
export const CATEGORY_COLUMNS = 26;
