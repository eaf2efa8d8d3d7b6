/** The disk of the home has little space left; a run on a full disk fails. */
import { z } from 'zod';
import { DEFAULT_UNITS } from '../words/display-units.ts';
import { formatBytes } from '../words/units.ts';
import { alertRule } from './alert-rule.ts';

/** Multiple of the bound above which the alert is over. */
const ENOUGH = 1.25;

export const diskFilling = alertRule({
  id: 'disk-filling',
  title: 'Disk filling',
  about: 'Less space than this is free on the disk where runs are stored.',
  next: 'Delete runs and purge them: gradwire runs purge, or move the home to another disk.',
  parameters: {
    gigabytes: {
      title: 'Free gigabytes',
      help: 'Free space on this computer below which the alert is raised.',
      default: 1,
      least: 0.001,
      most: 1_000_000,
    },
  },
  state: z.object({}),
  begin: () => ({}),
  observe: (_, seen, { gigabytes }) => {
    if (seen.kind !== 'moment' || seen.freeBytes === undefined) return undefined;
    const { freeBytes } = seen;
    const bound = gigabytes * 1e9;
    // It is recorded: the user's units are for what is shown.
    const message = `${formatBytes(freeBytes, DEFAULT_UNITS)} free on the disk of the home`;
    if (freeBytes < bound) return { holds: true, message };
    return freeBytes > ENOUGH * bound ? { holds: false, message } : undefined;
  },
});
