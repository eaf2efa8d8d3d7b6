/** The window's policies, all pure: who may speak, where links lead, where it opens. */
import { describe, expect, it } from 'vitest';
import { admitsSender, isAppUrl } from '../../../src/main/electron/ipc-gate.ts';
import { menuTemplate } from '../../../src/main/electron/menu.ts';
import { mayOpenOutside } from '../../../src/main/electron/outside-links.ts';
import { restorableState } from '../../../src/main/electron/window-state.ts';
import { HOST_COMMANDS } from '../../../src/shared/rpc/rpc.ts';

describe('the IPC gate', () => {
  const own = { url: 'app://gradwire/', isMainFrame: true, isOwnWindow: true };
  it.each([
    [own, true],
    [{ ...own, url: 'app://gradwire/index.html#/runs' }, true],
    [{ ...own, isMainFrame: false }, false],
    [{ ...own, isOwnWindow: false }, false],
    [{ ...own, isMainFrame: false, isOwnWindow: false }, false],
    [{ ...own, url: undefined }, false],
    [{ ...own, url: '' }, false],
    [{ ...own, url: 'about:blank' }, false],
    [{ ...own, url: 'https://gradwire/' }, false],
    [{ ...own, url: 'https://evil.example/app://gradwire/' }, false],
    [{ ...own, url: 'file:///home/user/index.html' }, false],
  ])('%j → %s', (sender, admitted) => {
    expect(admitsSender(sender)).toBe(admitted);
  });

  it.each([
    'app://gradwire.evil.example/',
    'app://user@gradwire/',
    'app://user:secret@gradwire/',
    'app://gradwire:81/',
    'app:gradwire/',
    'app://GRADWIRE.example/',
    'apps://gradwire/',
  ])('does not take %s for the app', (url) => {
    expect(isAppUrl(url)).toBe(false);
  });
});

it.each([
  ['https://arxiv.org/abs/1802.08021', true],
  ['https://doi.org/10.1145/3295500.3356222', true],
  ['http://arxiv.org/abs/1802.08021', false],
  ['https://arxiv.org.evil.example/', false],
  ['https://arxiv.org@evil.example/', false],
  ['https://arxiv.org:8443/', false],
  ['https://evil.example/?https://arxiv.org', false],
  ['file:///etc/passwd', false],
  ['javascript:alert(1)', false],
  ['ms-msdt:/id', false],
  ['not a url', false],
])('a link to %s leads outside: %s', (url, outside) => {
  expect(mayOpenOutside(url)).toBe(outside);
});

describe('the window’s place', () => {
  const screen = { x: 0, y: 0, width: 1920, height: 1080 };
  const state = { x: 100, y: 50, width: 1200, height: 800, maximized: false };
  const text = (change: object) => JSON.stringify({ ...state, ...change });

  it('is restored where it can be seen', () => {
    expect(restorableState(text({}), [screen])).toEqual(state);
    expect(restorableState(text({ x: 2000 }), [screen])).toBeUndefined();
    expect(restorableState(text({ x: 2000 }), [{ ...screen, x: 1920 }])).toBeDefined();
    expect(restorableState(text({ x: 1821 }), [screen])).toBeUndefined();
    expect(restorableState(text({ x: 1820 }), [screen])).toBeDefined();
    // The title bar above the screen: nothing to drag it down by.
    expect(restorableState(text({ y: -40 }), [screen])).toBeUndefined();
    expect(restorableState(text({}), [])).toBeUndefined();
  });

  it.each([
    '',
    '{',
    '{}',
    'null',
    text({ width: 1 }),
    text({ x: '0' }),
    text({ x: 0.5 }),
  ])('is forgotten where %j was kept', (kept) => {
    expect(restorableState(kept, [screen])).toBeUndefined();
  });
});

describe('the menu', () => {
  it.each(['darwin', 'linux', 'win32'] as const)(
    'on %s sends each command',
    (platform) => {
      const sent: string[] = [];
      const menus = menuTemplate(
        platform,
        (command) => sent.push(command),
        () => undefined,
      );
      for (const menu of menus) {
        for (const item of Array.isArray(menu.submenu) ? menu.submenu : []) {
          (item.click as (() => void) | undefined)?.();
        }
      }
      expect(sent.toSorted()).toEqual([...HOST_COMMANDS].toSorted());
    },
  );

  it('has New Experiment on Ctrl/Cmd+N', () => {
    const file = menuTemplate(
      'linux',
      () => undefined,
      () => undefined,
    )[0]!;
    expect(Array.isArray(file.submenu) && file.submenu[0]).toMatchObject({
      label: 'New Experiment',
      accelerator: 'CmdOrCtrl+N',
    });
  });
});
