/** Advice to users about a fault of ours. There is no public place for reports. */
const REPORT =
  'Keep what the command says with GRADWIRE_DEBUG=1, the log of the run (gradwire runs log RUN) ' +
  'and of the machine (gradwire nodes log NAME), and give them to whoever gave you Gradwire.';

export const BUG = `This is a bug in Gradwire. ${REPORT}`;
export const AGAIN = `Start it again. If this happens again: ${REPORT}`;
