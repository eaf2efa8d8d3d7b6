/** The version of this agent, from the package it was built from. */
import manifest from '../../../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
