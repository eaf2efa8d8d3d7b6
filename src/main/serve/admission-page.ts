/**
 * The page behind the printed URL. It puts the token into the browser's storage for this
 * server and goes on to `/` in its own place, so that the token stays neither in the
 * address bar nor in the list of pages to go back to.
 */
import { ACCESS_TOKEN_KEY } from '../../shared/rpc/access-token.ts';

/** Puts the token away and leaves the page, which stays with its text where storage is blocked. */
export const ADMISSION_SCRIPT = [
  `localStorage.setItem(${JSON.stringify(ACCESS_TOKEN_KEY)},`,
  `new URLSearchParams(location.search).get('token'));`,
  `location.replace('/' + location.hash);`,
].join(' ');

export const ADMISSION_PAGE = [
  '<!doctype html><meta charset="utf-8"><title>Gradwire</title>',
  '<noscript>Gradwire needs JavaScript.</noscript>',
  `<script>${ADMISSION_SCRIPT}</script>`,
  // The script has left the page, unless it failed.
  '<p>This browser keeps no data for this page. Allow site data for this address, then open it again.</p>',
].join('\n');
