/** The folder of the package `gradwire` for Python, beside the agent's bundles. */
import { bundledFile } from './bundled-file.ts';

/** @throws GradwireError `AGENT_MISSING` */
export const pythonFolder = (): string =>
  bundledFile(
    { bundle: 'python', source: '../../../python/gradwire/src' },
    import.meta.dirname,
  );
