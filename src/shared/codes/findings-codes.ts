/** Codes, with what each means and the next step: findings about a machine. */
import { codeGroup } from './code-group.ts';

export const findingsCodes = codeGroup({
  title: 'Findings about a machine',
  about:
    "`gradwire nodes check` and the app's Cluster page print them as warnings. Errors it may find are under Machines, Home and Limits.",
  codes: {
    CLOCK_OFFSET: {
      means: "The machine's clock differs from this computer's.",
      next: "Synchronise it; its records show its own clock's times.",
    },
    GPU_IN_USE: {
      means: 'Other users run processes on a GPU of the machine.',
      next: 'Expect slower or uneven iterations.',
    },
    TOOL_FAILED: {
      means: 'A GPU tool fails on the machine.',
      next: 'Run it there; if it still fails, have the driver repaired.',
    },
    TOOL_SILENT: {
      means: 'A GPU tool does not finish on the machine.',
      next: 'Run it there; if it hangs, have the driver or the machine restarted.',
    },
    VARIABLES_LEFT_OUT: {
      means: "Start files set variables that Gradwire's Node starts without.",
      next: 'Nothing to do.',
    },
    VULKAN_DRIVER_MISSING: {
      means: 'A GPU has no Vulkan driver, so ranks compute on the CPU.',
      next: 'Install the driver that the message names.',
    },
    VULKAN_MISSING: {
      means: 'The Vulkan loader is missing, so ranks compute on the CPU.',
      next: 'Install libvulkan1 there.',
    },
  },
});
