/** Codes, with what each means and the next step: the app. */
import { codeGroup } from './code-group.ts';

export const appCodes = codeGroup({
  title: 'The app',
  about: 'The window or page, its connection, terminals and questions.',
  codes: {
    ALERT_NOT_DELIVERED: {
      means:
        'The command or the webhook for alerts failed. It is told once until it works.',
      next: 'Correct it in the settings: gradwire settings list.',
    },
    ANSWER_INVALID: {
      means: 'The answer does not match the question.',
      next: 'Answer every prompt.',
    },
    CONNECTION_LOST: {
      means: 'The page lost its connection to Gradwire.',
      next: 'It reconnects by itself. If not, start Gradwire again; runs go on.',
    },
    PLAN_VALUE_INVALID: {
      means: 'A value of a plan cannot be used.',
      next: 'Correct the value that the message names.',
    },
    PORT_INVALID: {
      means: 'The number is not a port.',
      next: 'Give one from 1 to 65535, or omit --port.',
    },
    PORT_IN_USE: {
      means: 'Another program uses the port.',
      next: 'Choose another with --port, or omit --port.',
    },
    PORT_REFUSED: {
      means: 'The system refuses the port.',
      next: 'Choose one above 1023, or omit --port.',
    },
    PROTOCOL_MISMATCH: {
      means: 'Two parts of Gradwire do not speak the same protocol.',
      next: 'Use the same version everywhere; restart what is older.',
    },
    QUESTION_GONE: {
      means: 'The question is no longer open.',
      next: 'It was answered elsewhere, or the connection was closed.',
    },
    REPLY_INVALID: {
      means: 'A supervisor answered with something else than expected.',
      next: 'Deploy the agent again: gradwire nodes deploy NAME.',
    },
    REQUEST_INVALID: {
      means: 'A request is not valid.',
      next: 'Use the same version of Gradwire everywhere; otherwise report it as a bug.',
    },
    REQUEST_UNKNOWN: {
      means: 'A request is not known to this version.',
      next: 'Use the same version of Gradwire everywhere.',
    },
    RPC_INVALID_ARGUMENTS: {
      means: 'The page sent a value that is not valid.',
      next: 'Correct the value in the message and try again.',
    },
    RPC_MALFORMED: {
      means: 'The page and Gradwire do not understand each other.',
      next: 'Reload the page.',
    },
    RPC_RESULT_INVALID: {
      means: 'Gradwire answered the page with something else than expected.',
      next: 'Reload the page.',
    },
    RPC_UNKNOWN_CALL: {
      means: 'The page asked for something that this version does not have.',
      next: 'Reload the page.',
    },
    SETTING_INVALID: {
      means: 'The value is none of the setting.',
      next: 'Give one of the values that gradwire settings list shows.',
    },
    SETTING_UNKNOWN: {
      means: 'There is no such setting.',
      next: 'List them: gradwire settings list.',
    },
    TERMINAL_GONE: { means: 'The terminal has no shell.', next: 'Open it again.' },
    TERMINAL_LIMIT: {
      means: 'The page has as many terminals as it may.',
      next: 'Close one.',
    },
    TERMINAL_TAKEN: {
      means: 'A terminal of that number is already open.',
      next: 'Give each terminal of a page its own number.',
    },
    VIEW_NOT_LOADED: {
      means: 'A part of the page could not be loaded.',
      next: 'Reload the page; if that fails, restart Gradwire.',
    },
  },
});
