/**
 * What an object and a Worker send each other over a WebSocket: an id and a text, cut into pieces that fit into one WebSocket message. Pure
 * but for the socket that is sent on.
 */

export interface Frame {
  /** Id of the event; empty where it has none. */
  id: string;
  /** JSON-RPC message; empty where the frame only names the id to resume from. */
  text: string;
}

/** Most UTF-16 units of one piece: under 1 MiB as UTF-8. */
const MAX_PIECE_CHARS = 300_000;
const MORE = '+';
const LAST = '.';

/** Returns the pieces of a frame, in order. */
export function toPieces({ id, text }: Frame, maxChars = MAX_PIECE_CHARS): string[] {
  const whole = `${id}\n${text}`;
  const pieces: string[] = [];
  let from = 0;
  while (whole.length - from > maxChars) {
    // A pair of surrogates is one character and must not be split.
    const cut = from + maxChars - (isLowSurrogate(whole, from + maxChars) ? 1 : 0);
    pieces.push(MORE + whole.slice(from, cut));
    from = cut;
  }
  pieces.push(LAST + whole.slice(from));
  return pieces;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Sends a frame. A socket that has just broken takes nothing; its close is reported separately. */
export function sendFrame(socket: Pick<WebSocket, 'send'>, frame: Frame): void {
  try {
    for (const piece of toPieces(frame)) socket.send(piece);
  } catch {
    // The close event informs those who wait.
  }
}

/** Joins the pieces from one socket into frames. */
export class FrameReader {
  #rest = '';

  /** @returns the frame that this piece completes, if it does */
  push(piece: string): Frame | undefined {
    this.#rest += piece.slice(1);
    if (piece.startsWith(MORE)) return undefined;
    const whole = this.#rest;
    this.#rest = '';
    const end = whole.indexOf('\n');
    return { id: whole.slice(0, end), text: whole.slice(end + 1) };
  }
}
