/**
 * The desktop app as electron-builder packs it: the window's own code in an archive that Electron
 * checks, and beside it what other processes run. Modules have their binaries; none is compiled.
 */
import path from 'node:path';

/** Fuses of Electron's binary: what an app that others can write to must not be made to do. */
const FUSES = {
  /** Gradwire's processes run on the Node beside it, never on Electron's. */
  runAsNode: false,
  enableNodeOptionsEnvironmentVariable: false,
  enableNodeCliInspectArguments: false,
  enableCookieEncryption: true,
  enableEmbeddedAsarIntegrityValidation: true,
  onlyLoadAppFromAsar: true,
  loadBrowserProcessSpecificV8Snapshot: false,
  grantFileProtocolExtraPrivileges: false,
} as const;

/** The processor of this machine in the names of binaries. */
const OWN = new RegExp(`-(universal|${process.arch})$`);

/** Files that run or are read outside the window's process: beside the archive. */
const UNPACKED = [
  'bin/**',
  'dist/agent/**',
  'dist/cli/**',
  'dist/engine/**',
  'docs/**',
  'node_modules/**',
  'package.json',
  'resources/**',
];

/** Parts of modules that this platform does not run: other platforms', headers and sources. */
const FOREIGN = [
  ...['darwin-universal', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64']
    .filter((name) => !name.startsWith(process.platform) || !OWN.test(name))
    .map((name) => `!node_modules/webgpu/dist/${name}/**`),
  '!node_modules/node-*/{include,lib,share}/**',
  '!node_modules/better-sqlite3/{deps,src}/**',
];

interface Places {
  readonly root: string;
  readonly output: string;
  /** Electron, unpacked; default: electron-builder downloads it. */
  readonly electron: string | undefined;
  readonly electronVersion: string;
}

export function configuration({ electron, electronVersion, output, root }: Places) {
  return {
    // Whoever publishes the app puts their own domain before the name, in reverse.
    appId: 'gradwire',
    productName: 'Gradwire',
    copyright: 'Apache-2.0; see LICENSE and THIRD-PARTY-NOTICES',
    directories: { output, buildResources: path.join(root, 'scripts/desktop') },
    electronVersion,
    ...(electron === undefined ? {} : { electronDist: electron }),
    npmRebuild: false,
    // By this name desktops find the icon of a window.
    extraMetadata: { desktopName: 'gradwire.desktop' },
    asar: true,
    asarUnpack: UNPACKED,
    electronFuses: FUSES,
    files: [
      'bin/**',
      'dist/{agent,cli,desktop,engine}/**',
      'resources/**',
      'docs/**',
      'package.json',
      'LICENSE',
      '!**/*.map',
      '!**/*.{br,gz}',
      '!dist/engine/types/**',
      ...FOREIGN,
    ],
    extraResources: [
      { from: 'dist/THIRD-PARTY-NOTICES', to: 'THIRD-PARTY-NOTICES' },
      { from: 'LICENSE', to: 'LICENSE' },
    ],
    icon: path.join(root, 'scripts/desktop/icon.png'),
    artifactName: '${name}-${version}-${os}-${arch}.${ext}',
    linux: {
      target: ['AppImage', 'tar.gz'],
      executableName: 'gradwire',
      syncDesktopName: true,
      category: 'Science',
    },
    mac: {
      target: ['dmg', 'zip'],
      category: 'public.app-category.developer-tools',
      hardenedRuntime: true,
    },
    win: { target: ['nsis', 'zip'] },
  };
}
