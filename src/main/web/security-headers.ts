/**
 * Security headers of every response. The page runs only its own scripts and styles, connects only
 * to its own host, cannot be framed, and leaks no address.
 */

/**
 * The content security policy. Styles set by script (CSSOM) need no exception; inline
 * scripts and styles are not allowed.
 * @param sockets where the page may open WebSockets: not every browser counts `ws:` as
 * `'self'`
 */
export function contentSecurityPolicy(sockets: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...sockets].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function securityHeaders(sockets: readonly string[]): Record<string, string> {
  return {
    'Content-Security-Policy': contentSecurityPolicy(sockets),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}
