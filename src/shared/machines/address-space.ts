/** The address space that a rank's process needs, and what a limit of it (`ulimit -v`) means. */

/**
 * V8 reserves addresses for each WebAssembly memory far beyond its size: with 8 GiB a rank ends
 * by SIGTRAP, with 12 million KiB it trains.
 */
export const NEEDED_ADDRESS_MIB = 11_718;

export const addressSpaceText = (limitMiB: number, option = 'ulimit -v'): string =>
  `a process may use ${limitMiB} MiB of address space (${option}), and a rank needs ${NEEDED_ADDRESS_MIB}`;
