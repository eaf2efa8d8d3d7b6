/** Bytes of a page of memory, or a multiple of it: systems have 4, 16 or 64 KiB. */
export const PAGE_BYTES = 65_536;
