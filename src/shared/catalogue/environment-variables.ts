/**
 * Environment variables that Gradwire reads, for its reference. One that the sources read and
 * that is not here fails a test.
 */
interface EnvironmentVariable {
  readonly name: string;
  readonly means: string;
}

export interface EnvironmentGroup {
  readonly title: string;
  readonly variables: readonly EnvironmentVariable[];
}

export const environmentVariables: readonly EnvironmentGroup[] = [
  {
    title: 'For users',
    variables: [
      {
        name: 'GRADWIRE_HOME',
        means:
          'The home: where runs, settings and data sets are kept. Default: on Linux $XDG_DATA_HOME/gradwire or ~/.local/share/gradwire, on macOS ~/Library/Application Support/gradwire, on Windows %LOCALAPPDATA%\\gradwire.',
      },
      {
        name: 'GRADWIRE_NO_WINDOW',
        means: 'Set it to 1 to have gradwire start use the browser, not a window.',
      },
      {
        name: 'GRADWIRE_DATA_MIRROR',
        means:
          'The URL of your own mirror of public data sets, with a folder for each, for gradwire data fetch.',
      },
      {
        name: 'GRADWIRE_DEBUG',
        means: 'Set it to 1 to print the stack of an error, for a report of a bug.',
      },
    ],
  },
  {
    title: 'Of the system',
    variables: [
      {
        name: 'HTTP_PROXY, HTTPS_PROXY, NO_PROXY',
        means:
          'Proxies for downloads of data sets and Electron, and for the webhook of alerts.',
      },
      {
        name: 'ELECTRON_MIRROR, ELECTRON_CUSTOM_DIR',
        means: 'Where Electron is downloaded from, as in its own installer.',
      },
      {
        name: 'ELECTRON_BUILDER_BINARIES_MIRROR',
        means: 'Where `npm run dist` downloads the tools of installers from.',
      },
      {
        name: 'ELECTRON_OVERRIDE_DIST_PATH',
        means: 'The directory of an Electron that is installed already.',
      },
      {
        name: 'NO_COLOR, TERM',
        means:
          'Gradwire prints no colours. With TERM=dumb it does not rewrite lines either.',
      },
      { name: 'SHELL', means: 'The shell of terminals in the app, on this computer.' },
      {
        name: 'DISPLAY, WAYLAND_DISPLAY',
        means: 'Where a window can open on Linux. Without either, the browser is used.',
      },
      {
        name: 'SSH_AUTH_SOCK',
        means: 'The SSH agent with your keys.',
      },
      {
        name: 'VK_DRIVER_FILES, VK_ICD_FILENAMES',
        means: 'Drivers of the Vulkan loader, where they are not found by themselves.',
      },
      {
        name: 'LD_LIBRARY_PATH, LD_PRELOAD, NODE_OPTIONS',
        means:
          'Where start files of a machine set them, Gradwire’s Node starts there without; nodes check says so.',
      },
      {
        name: 'NODE_COMPILE_CACHE',
        means:
          'Where compiled code is kept from start to start; default: gradwire-code-UID in the temporary directory.',
      },
    ],
  },
  {
    title: 'Set by Gradwire',
    variables: [
      {
        name: 'GRADWIRE_BRIDGE',
        means:
          'The agent’s socket, set for programs that gradwire exec starts. Without it gradwire.join() looks for a run that waits for this rank.',
      },
      {
        name: 'GRADWIRE_RUN',
        means:
          'The run that a program joins that a launcher or you have started: gradwire exec --external.',
      },
      {
        name: 'NNODES, NODE_RANK',
        means:
          'The number of machines and the number of this one, for a launcher that --external starts.',
      },
      {
        name: 'GRADWIRE_BRIDGE_PROCESS',
        means: 'The process of a rank’s program that has joined.',
      },
      {
        name: 'RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT',
        means: 'The rank and the meeting point of a program, as torchrun sets them.',
      },
      {
        name: 'GRADWIRE_NODE',
        means: 'Marks a command that runs on the Node that npm installed.',
      },
      { name: 'GRADWIRE_DIST', means: 'The folder of a build while it is made.' },
    ],
  },
  {
    title: 'For tests',
    variables: [
      {
        name: 'CI',
        means: 'true: what cannot be tested here fails instead of being skipped.',
      },
      {
        name: 'GRADWIRE_CHROMIUM',
        means: 'The Chromium to use.',
      },
      {
        name: 'GRADWIRE_REQUIRE_GPU',
        means: 'Set it to 1: tests of the GPU fail where there is none.',
      },
      {
        name: 'GRADWIRE_SOAK_KILLS, GRADWIRE_SOAK_CUTS, GRADWIRE_SOAK_SEED',
        means: 'The soak’s number of kills and of cuts, and its seed.',
      },
      {
        name: 'GRADWIRE_SLURM_PATIENCE_SECONDS',
        means:
          'Seconds of a supervisor’s silence after which its Slurm job ends; default: 120.',
      },
      {
        name: 'GRADWIRE_SLURM_LEAD_SECONDS',
        means: 'Seconds before the end of a Slurm job at which its run leaves it.',
      },
    ],
  },
];
