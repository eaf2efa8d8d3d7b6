/** Codes, with what each means and the next step: SSH. */
import { codeGroup } from './code-group.ts';

export const sshCodes = codeGroup({
  title: 'SSH',
  about: 'Connecting to machines.',
  codes: {
    HOST_KEYS_UNCHECKED: {
      means: 'The list of revoked host keys cannot be read.',
      next: 'Make it readable, or remove RevokedHostKeys.',
    },
    HOST_KEY_CHANGED: {
      means:
        'The machine presents another key than before. Someone may be intercepting the connection.',
      next: 'Do not connect. Ask the administrator whether the key was changed; then remove the old one from known_hosts.',
    },
    HOST_KEY_NOT_SAVED: {
      means: 'The host key could not be saved.',
      next: 'Check that you own the home directory and that its disk is not full.',
    },
    HOST_KEY_OTHER_TYPE: {
      means: 'Keys of other types are known for this machine, but not this one.',
      next: 'Compare its fingerprint; if it is right, give it with --accept-host-key.',
    },
    HOST_KEY_REFUSED: {
      means: 'You did not accept the host key.',
      next: 'Connect again once you have compared its fingerprint.',
    },
    HOST_KEY_REVOKED: {
      means: 'The host key is on your list of revoked keys.',
      next: "Do not connect. Ask the machine's administrator.",
    },
    HOST_KEY_UNKNOWN: {
      means: 'The host key is not known yet.',
      next: "Compare its fingerprint with the administrator's, and give it with --accept-host-key.",
    },
    HOST_UNKNOWN: {
      means: 'Your SSH configuration has no such host, or one that cannot be imported.',
      next: 'Use a name of the configuration, or add it with gradwire nodes add --host.',
    },
    PASSWORD_MISSING: {
      means: 'Standard input has no password.',
      next: 'Write it to stdin as one line.',
    },
    SSH_AGENT_UNREACHABLE: {
      means: 'The SSH agent does not answer.',
      next: 'Start it, or name a key file.',
    },
    SSH_AUTH_CANCELLED: {
      means: 'You cancelled the prompt of a log-in.',
      next: 'Connect again when you have the answer.',
    },
    SSH_AUTH_FAILED: {
      means: 'The server accepted none of the keys and answers.',
      next: 'Follow the reason in the message; try ssh in a terminal.',
    },
    SSH_AUTH_NEEDED: {
      means: 'The server asks something that nobody can answer here.',
      next: 'Use a key or an agent, or connect from a terminal or the app.',
    },
    SSH_CHANNEL_CLOSED: {
      means: 'The server closed a channel before the command had ended.',
      next: "Look in the server's log; a ChannelTimeout may be set.",
    },
    SSH_CHANNEL_REFUSED: {
      means: 'The server does not allow forwarding.',
      next: 'See AllowTcpForwarding and DisableForwarding in its sshd_config.',
    },
    SSH_CLIENT_MISSING: {
      means: 'No OpenSSH client is installed on this computer.',
      next: 'Install it, or use the built-in one: --transport builtin.',
    },
    SSH_CONFIG_INVALID: {
      means: 'ssh rejects its configuration.',
      next: 'Correct the file that the message names.',
    },
    SSH_CONNECTION_CLOSED: {
      means: 'Gradwire closed the connection, because it was no longer needed.',
      next: 'Connect again.',
    },
    SSH_CONNECTION_LOST: {
      means: 'The connection was lost. Runs on the machine go on.',
      next: 'Connect again to see them.',
    },
    SSH_KEY_UNREADABLE: {
      means: 'A key file cannot be used.',
      next: 'Make it readable by you alone: chmod 600 FILE.',
    },
    SSH_KEY_UNSUPPORTED: {
      means: 'The key is of a kind that the built-in client does not know.',
      next: "Use an ed25519, ECDSA or RSA key in OpenSSH's format, or --transport system.",
    },
    SSH_LOGIN_INTERRUPTED: {
      means: 'The log-in was interrupted.',
      next: "Look for the reason in the server's log.",
    },
    SSH_NO_COMMON_ALGORITHM: {
      means: 'Server and client have no algorithm in common.',
      next: "Use the system's client: gradwire nodes edit NAME --transport system.",
    },
    SSH_OUTPUT_TOO_LARGE: {
      means: 'A command printed far more than expected.',
      next: "Check what that account's login shell prints.",
    },
    SSH_PACKET_TOO_LARGE: {
      means:
        'The server sent more at once than the built-in client takes, probably its banner.',
      next: "Use the system's ssh: gradwire nodes edit NAME --transport system.",
    },
    SSH_PASSWORD_EXPIRED: {
      means: "The account's password has expired.",
      next: 'Log in with ssh in a terminal and change it.',
    },
    SSH_PASSWORD_REFUSED: {
      means: 'The password was refused.',
      next: 'Give the right one.',
    },
    SSH_PROTOCOL: {
      means: 'The server does not follow the SSH protocol as expected.',
      next: "Use the system's client: --transport system.",
    },
    SSH_PROXY_COMMAND: {
      means:
        'The machine is reached by a ProxyCommand, which the built-in client does not run.',
      next: "Use the system's: gradwire nodes edit NAME --transport system.",
    },
    SSH_REVOCATION_LIST: {
      means: 'RevokedHostKeys is a KRL, which only OpenSSH reads.',
      next: 'Use --transport system, or list the keys as text.',
    },
    SSH_SCRIPT_BROKEN: {
      means: 'A command on the machine did not finish as it should.',
      next: 'Follow the reason in the message; start files of the account are a common one.',
    },
    SSH_SYSTEM_UNSUPPORTED: {
      means: 'The installed ssh cannot share its connection.',
      next: 'Install OpenSSH 7.4 or newer on this computer.',
    },
    SSH_TARGET_INVALID: {
      means: 'The host, user or route is not a valid SSH target.',
      next: 'Correct the value in the message.',
    },
    SSH_TIMEOUT: {
      means: "The machine's login shell ran no command in time.",
      next: 'Log in with ssh in a terminal, and see what start files wait for.',
    },
    SSH_UNREACHABLE: {
      means: 'No SSH connection to the machine.',
      next: 'Check host, port and network; try ssh in a terminal.',
    },
  },
});
