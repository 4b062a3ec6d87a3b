/** Decides, in one place, how a connection to the gateway ended and whether the connector reconnects. Pure. */
import type { Payload } from '../../../src/upstream/connector/frames.ts';
import { EXIT, Failure } from '../failure.ts';

/** Close codes of the gateway after which a connector does not reconnect. */
const REVOKED = 4401;
const REPLACED = 4409;

export interface Ending {
  /** Close code of the WebSocket; 1006 where it broke without one. */
  code: number;
  /** The reason in the gateway's last frame. */
  bye: Payload<'bye'>['reason'] | undefined;
  /** Set where this side gave up on the connection. */
  because?: string;
  /** How long it was up in milliseconds; 0 where no welcome came. */
  livedMs: number;
}

/** Tells the user what to do about a refused device token. */
export const REVOKED_TEXT =
  'the gateway does not know this device token, or it was revoked; ' +
  'enrol this machine again with `portico connect --enroll NAME --replace`';

/** @returns why the command ends; undefined where it reconnects */
export function toFailure({ code, bye }: Ending): Failure | undefined {
  if (code === REVOKED || bye === 'revoked') return new Failure(REVOKED_TEXT, EXIT.denied);
  if (code === REPLACED || bye === 'replaced') {
    return new Failure(
      'another `portico connect` with this token took over; ' +
        'stop one of them, or enrol each machine under its own name',
    );
  }
  if (bye === 'version') {
    return new Failure(
      'the gateway uses another version of the connection protocol; update portico-cli',
    );
  }
  if (bye === 'protocol') {
    return new Failure(
      'the gateway reports that this command broke the protocol of the connection',
    );
  }
  return undefined;
}

/** Why the connector reconnects, in a few words. */
export function toReason({ code, bye, because, livedMs }: Ending): string {
  if (because !== undefined) return because;
  if (bye === 'draining' || bye === 'restarting' || code === 1001 || code === 1012) {
    return 'the gateway is restarting';
  }
  if (livedMs === 0) return 'the gateway did not accept the connection';
  return code === 1006 ? 'the connection broke' : `the connection was closed (${code})`;
}
