/** Iterations that ranks of the scripted run "torrent" record at once. */
export const TORRENT = 6000;
