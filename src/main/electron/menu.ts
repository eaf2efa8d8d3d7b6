/**
 * The native menu. Standard commands of the operating system are roles; the app's own
 * entries are commands of the page, forwarded to it.
 */
import type { MenuItemConstructorOptions } from 'electron';
import type { HostCommand } from '../../shared/rpc/rpc.ts';

export function menuTemplate(
  platform: NodeJS.Platform,
  send: (command: HostCommand) => void,
  openPapers: () => void,
): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin';
  return [
    ...(mac ? [{ role: 'appMenu' as const }] : []),
    {
      role: 'fileMenu',
      submenu: [
        {
          label: 'New Experiment',
          accelerator: 'CmdOrCtrl+N',
          click: () => send('show-new'),
        },
        { type: 'separator' },
        {
          label: 'Settings…',
          accelerator: 'CmdOrCtrl+,',
          click: () => send('show-settings'),
        },
        { type: 'separator' },
        { role: mac ? 'close' : 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        { label: 'Start', click: () => send('show-start') },
        { label: 'Runs', click: () => send('show-runs') },
        { label: 'Sweeps', click: () => send('show-sweeps') },
        { label: 'Compare', click: () => send('show-compare') },
        { label: 'Plan', click: () => send('show-plan') },
        { label: 'Figures', click: () => send('show-figures') },
        { label: 'Cluster', click: () => send('show-cluster') },
        { type: 'separator' },
        { role: 'reload' },
        { role: 'toggleDevTools' },
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        { label: 'Tour of Three Steps', click: () => send('show-tour') },
        { label: 'Keyboard Shortcuts', click: () => send('show-shortcuts') },
        { label: 'Papers Behind the Methods', click: openPapers },
        ...(mac ? [] : [{ role: 'about' as const }]),
      ],
    },
  ];
}
