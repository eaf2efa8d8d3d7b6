/** Window or browser, which files are given out, and how the browser is opened. */
import { describe, expect, it } from 'vitest';
import { openerFor } from '../../../src/main/serve/browser.ts';
import { rendererFile } from '../../../src/main/web/renderer-files.ts';
import { contentSecurityPolicy } from '../../../src/main/web/security-headers.ts';
import {
  chooseWindow,
  type StartFacts,
} from '../../../src/main/serve/window-choice.ts';

describe('npm start', () => {
  const installed = { kind: 'installed', binary: '/e/electron' } as const;
  const missing = {
    kind: 'to-download',
    installer: '/e/install.js',
    url: 'https://github.com/',
    version: '45.4.1',
  } as const;
  const facts: StartFacts = {
    platform: 'linux',
    environment: { DISPLAY: ':0' },
    user: 1000,
    electron: installed,
  };
  const serve = (reason: RegExp) => ({
    kind: 'serve',
    reason: expect.stringMatching(reason) as string,
  });
  it.each<[string, Partial<StartFacts>, object]>([
    ['opens the window', {}, installed],
    ['on Wayland', { environment: { WAYLAND_DISPLAY: 'wayland-0' } }, installed],
    ['on a Mac', { platform: 'darwin', environment: {} }, installed],
    ['on Windows', { platform: 'win32', environment: {}, user: undefined }, installed],
    ['downloads what is missing', { electron: missing }, missing],
    ['without a display', { environment: {} }, serve(/no display/)],
    ['with an empty display', { environment: { DISPLAY: '' } }, serve(/no display/)],
    [
      'without a display, binary missing',
      { environment: {}, electron: missing },
      serve(/no display/),
    ],
    ['as root on Linux', { user: 0 }, serve(/root/)],
    ['as root on a Mac', { platform: 'darwin', user: 0 }, installed],
    [
      'without the package',
      { electron: { kind: 'no-package' } },
      serve(/not installed/),
    ],
    [
      'when told so',
      { environment: { DISPLAY: ':0', GRADWIRE_NO_WINDOW: '1' } },
      serve(/NO_WINDOW/),
    ],
  ])('%s', (_title, change, choice) => {
    expect(chooseWindow({ ...facts, ...change })).toEqual(choice);
  });
});

describe('the files given out', () => {
  it.each([
    ['/', 'index.html', 'text/html; charset=utf-8', 'no-cache'],
    ['/index.html', 'index.html', 'text/html; charset=utf-8', 'no-cache'],
    [
      '/assets/index-B__BVfgC.js',
      'assets/index-B__BVfgC.js',
      'text/javascript; charset=utf-8',
      'private, max-age=31536000, immutable',
    ],
    [
      '/assets/index-Dk3_a-x1.css',
      'assets/index-Dk3_a-x1.css',
      'text/css; charset=utf-8',
      'private, max-age=31536000, immutable',
    ],
    ['/assets/logo.svg', 'assets/logo.svg', 'image/svg+xml', 'no-cache'],
  ])('have %s', (pathname, name, type, cacheControl) => {
    expect(rendererFile(pathname)).toEqual({ name, type, cacheControl });
  });

  it.each([
    '',
    'index.html',
    '/..',
    '/../package.json',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/%2e%2e/package.json',
    '/..\\package.json',
    '/assets\\index.js',
    '//etc/passwd.html',
    '/assets//x.js',
    '/.env',
    '/.hidden/x.js',
    '/assets/.x.js',
    '/a/b/c/d/e.js',
    '/x.js\0.html',
    '/index',
    '/x.ts',
    '/x.map',
    '/C:/x.js',
    '/assets/',
  ])('do not have %j', (pathname) => {
    expect(rendererFile(pathname)).toBeUndefined();
  });
});

it('allows nothing by default and nothing inline', () => {
  const policy = contentSecurityPolicy({ sockets: ['ws://127.0.0.1:4711'] });
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self' ws://127.0.0.1:4711;");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

it.each([
  ['linux', { DISPLAY: ':0' }, ['xdg-open', '/h/open.html']],
  ['linux', {}, undefined],
  ['darwin', {}, ['open', '/h/open.html']],
  ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler', 'file:///h/open.html']],
] as const)('opens a browser on %s with %j by %j', (platform, environment, command) => {
  expect(openerFor('/h/open.html', platform, environment)).toEqual(command);
});
