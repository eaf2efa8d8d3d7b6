/**
 * Settings that a machine's start files make for other programs and our Node must not
 * inherit: variables that change which libraries it loads or how it runs, and a limit that
 * may be raised again.
 */

export const LEFT_OUT: readonly string[] = [
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'LD_AUDIT',
  'NODE_OPTIONS',
  'NODE_PATH',
  'NODE_DEBUG',
  'NODE_DEBUG_NATIVE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_ICU_DATA',
  'NODE_PENDING_DEPRECATION',
  'NODE_REDIRECT_WARNINGS',
  'NODE_V8_COVERAGE',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
];

/** Commands for a shell before it starts our Node. The limit is that of address space. */
export const BEFORE_NODE = `unset ${LEFT_OUT.join(' ')}; ulimit -S -v "$(ulimit -H -v)" 2>/dev/null`;
