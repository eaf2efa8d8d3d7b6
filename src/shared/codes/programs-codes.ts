/** Codes, with what each means and the next step: programs of your own. */
import { codeGroup } from './code-group.ts';

export const programsCodes = codeGroup({
  title: 'Programs of your own',
  about: 'A PyTorch program beside a rank: docs/pytorch.md.',
  codes: {
    AWAITING_UNSAFE: {
      means:
        'The directory where programs find their ranks could be written by other users.',
      next: 'Remove it, if you can, or ask who administers the machine.',
    },
    BRIDGE_INVALID: {
      means: 'The program sent a message where it makes no sense.',
      next: 'Use one model and one thread for steps; if you do, report it as a bug.',
    },
    BRIDGE_LOST: {
      means: 'The program closed its connection and goes on.',
      next: 'Read its log: a thread or a signal handler may have ended gradwire.',
    },
    BRIDGE_TAKEN: {
      means: "A second process of a rank's program tried to join.",
      next: 'Join once per rank; the message says which process has joined.',
    },
    BRIDGE_UNAVAILABLE: {
      means: 'No memory can be shared with a program here.',
      next: 'Run it on a Linux machine, with the optional package koffi.',
    },
    BRIDGE_VERSION: {
      means: "The program's package gradwire has another version than the app.",
      next: 'Install the package of the same version as the app.',
    },
    LAUNCHER_FAILED: {
      means:
        'The launcher that starts the ranks of a machine ended with an error, or before its ranks.',
      next: 'Read its log: gradwire runs log RUN. What it prints is there as that of the first rank of its machine.',
    },
    PROGRAM_ENDED_EARLY: {
      means: 'The program of a rank has ended, but others have further steps.',
      next: 'Let all ranks take the same number of steps: check the sizes of their data.',
    },
    PROGRAM_FAILED: {
      means: 'The program ended with an error.',
      next: 'Read its log: gradwire runs log RUN --rank N.',
    },
    PROGRAM_GONE: {
      means:
        'A program that a launcher or you have started has ended, or closed its connection.',
      next: 'Read its output where it was started.',
    },
    PROGRAM_INVALID: {
      means: 'A setting of the program is not valid.',
      next: 'Correct the setting in the message.',
    },
    PROGRAM_MISFIT: {
      means: 'The setting does not fit a run of a program.',
      next: 'Remove it, as the message says.',
    },
    PROGRAM_MODE: {
      means: 'The program joins but is only to be observed, or the other way round.',
      next: 'Leave out --observe, or call gradwire.join() in the program.',
    },
    PROGRAM_MODELS_DIFFER: {
      means: 'The ranks have attached different models.',
      next: 'Attach the same models, in the same order, on every rank.',
    },
    PROGRAM_NOT_FOUND: {
      means: 'The program to start does not exist on that machine.',
      next: 'Check workload.command and workload.workdir there, or add setup lines.',
    },
    PROGRAM_NOT_JOINED: {
      means: 'The program ended without joining, or without attaching a model.',
      next: 'Call gradwire.join() in it and attach its model, or only observe it.',
    },
    PROGRAM_NOT_SEEN: {
      means: 'The program ended without a step of an optimiser.',
      next: 'Observe a program that trains with PyTorch; read its log.',
    },
    PROGRAM_NOT_STARTED: {
      means: 'The program cannot be started.',
      next: 'Check its path and permissions on that machine.',
    },
    PROGRAM_UNSEEN: {
      means:
        'Observing a program has failed. The program goes on; its run has no further steps.',
      next: 'Read the reason. If PyTorch was changed in the program, try it without.',
    },
    PROGRAM_TURNS_DIFFER: {
      means:
        'Models step in turns, and the ranks have made a step of different models.',
      next: 'Let all ranks step the same models in the same order, each as often.',
    },
    WORKDIR_EMPTY: {
      means: 'workload.workdir has no file to copy.',
      next: 'Start it in the directory of the program. Git may ignore all that is there.',
    },
    WORKDIR_FILE_DAMAGED: {
      means:
        'A copied file has not arrived as it was sent, or changed while it was read.',
      next: 'Launch again: only what is missing is sent.',
    },
    WORKDIR_TOO_LARGE: {
      means: 'workload.workdir has too many files, or too many bytes, to copy them.',
      next: 'Let git ignore data and results, or set workload.copy to false if the directory is there.',
    },
    WORKDIR_UNREADABLE: {
      means: 'A file of workload.workdir cannot be copied.',
      next: 'Correct or ignore the file in the message.',
    },
  },
});
