/**
 * Security headers of every response. The page runs only its own scripts and styles, connects only
 * to its own host, cannot be framed, and leaks no address.
 */
import { createHash } from 'node:crypto';

interface PagePolicy {
  /** Addresses of WebSockets that the page may open: not every browser counts `ws:` as `'self'`. */
  readonly sockets?: readonly string[];
  /** The only script that may run, inline; default: those in files of the page's own host. */
  readonly script?: string;
}

/**
 * The content security policy. Styles set by script (CSSOM) need no exception; other inline
 * scripts and styles are not allowed.
 */
export function contentSecurityPolicy({ sockets = [], script }: PagePolicy): string {
  return [
    "default-src 'none'",
    `script-src ${script === undefined ? "'self'" : `'sha256-${digestOf(script)}'`}`,
    "style-src 'self'",
    ["connect-src 'self'", ...sockets].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function securityHeaders(policy: PagePolicy): Record<string, string> {
  return {
    'Content-Security-Policy': contentSecurityPolicy(policy),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}

function digestOf(script: string): string {
  return createHash('sha256').update(script).digest('base64');
}
