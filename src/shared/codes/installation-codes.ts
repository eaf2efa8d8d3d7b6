/** Codes, with what each means and the next step: the installation. */
import { codeGroup } from './code-group.ts';

export const installationCodes = codeGroup({
  title: 'The installation',
  about: 'What is installed on this computer.',
  codes: {
    AGENT_MISSING: { means: 'The agent is not built.', next: 'Run npm run build.' },
    APP_ALREADY_RUNNING: {
      means: 'Another instance of Gradwire uses this home.',
      next: 'Use or end that instance, or give this one its own home with GRADWIRE_HOME=DIRECTORY.',
    },
    BUILD_FAILED: {
      means: 'The sources could not be built.',
      next: 'Read the output above the error. If a package is missing, run npm ci.',
    },
    DOWNLOAD_INTERRUPTED: {
      means: 'The download of Electron was interrupted.',
      next: 'Start again, or set GRADWIRE_NO_WINDOW=1 to use the browser.',
    },
    HOST_MISSING: {
      means: 'The server of the dashboard is not built.',
      next: 'Run npm run build.',
    },
    KERNELS_MISSING: {
      means: 'The WebAssembly kernels are not built.',
      next: 'Run npm run build; install the package again if it came without a checkout.',
    },
    NATIVE_UNAVAILABLE: {
      means: 'The native transport does not work here.',
      next: 'Use transport: tcp, or install the optional package koffi.',
    },
    NODE_TOO_OLD: {
      means: 'The Node that runs this is older than Gradwire needs.',
      next: 'Install the version in the message, or newer.',
    },
    NOT_BUILT: {
      means: 'The package was packed without its build.',
      next: 'Pack it in a checkout: npm run pack.',
    },
    NOT_INSTALLED: {
      means: 'npm has not installed the packages that Gradwire needs.',
      next: 'Run npm ci in the directory in the message.',
    },
    RENDERER_MISSING: {
      means: 'The dashboard is not built.',
      next: 'Run npm run build.',
    },
    SHELL_NOT_STARTED: {
      means: 'The login shell cannot be started.',
      next: 'Set SHELL to a shell that is installed, and start Gradwire again.',
    },
    TERMINAL_UNAVAILABLE: {
      means: 'Terminals of this computer need a package that is not installed.',
      next: 'Install it with npm install --include=optional. Terminals on other machines work without it.',
    },
  },
});
