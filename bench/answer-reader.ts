/**
 * Reads HTTP/1.1 responses from one keep-alive socket, one at a time, as cheaply as JavaScript allows.
 *
 * Owns: status, content type and body of each response, for bodies with a length or in chunks. Refuses: pipelining, interim responses,
 * bodies that end with the connection, compression. Anything it does not understand throws, because a benchmark must not guess.
 */
const HEAD_END = '\r\n\r\n';

export interface Answer {
  status: number;
  /** The header block, as received. */
  head: string;
  body: Buffer;
}

/** Collects the data of a socket; `push` returns the response once its last byte has arrived. */
export class AnswerReader {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #head: string | undefined;
  #status = 0;
  /** Bytes of body still to come (with a length), or -1 (in chunks). */
  #bodyBytes = 0;
  /** Decoded chunks so far; the undecoded rest is in `#pending`. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;

  push(data: Buffer): Answer | undefined {
    this.#pending.push(data);
    this.#pendingBytes += data.length;
    if (this.#head === undefined && !this.#readHead()) return undefined;
    if (this.#bodyBytes < 0) return this.#readChunks();
    if (this.#pendingBytes < this.#bodyBytes) return undefined;
    return this.#finish(this.#join());
  }

  #join(): Buffer {
    const first = this.#pending[0];
    const joined = this.#pending.length === 1 && first ? first : Buffer.concat(this.#pending);
    this.#keep(joined);
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#pending = [rest];
    this.#pendingBytes = rest.length;
  }

  #readHead(): boolean {
    const joined = this.#join();
    const end = joined.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = joined.toString('latin1', 0, end);
    this.#head = head;
    this.#status = Number(head.slice(9, 12));
    const length = /^content-length: *(\d+)$/im.exec(head)?.[1];
    if (length !== undefined) this.#bodyBytes = Number(length);
    else if (/^transfer-encoding: *chunked$/im.test(head)) this.#bodyBytes = -1;
    else if (this.#status === 202 || this.#status === 204) this.#bodyBytes = 0;
    else throw new Error(`answer without a length: ${head}`);
    this.#keep(joined.subarray(end + HEAD_END.length));
    return true;
  }

  #readChunks(): Answer | undefined {
    const joined = this.#join();
    let at = 0;
    for (;;) {
      const lineEnd = joined.indexOf('\r\n', at);
      if (lineEnd < 0) break;
      const size = Number.parseInt(joined.toString('latin1', at, lineEnd), 16);
      if (Number.isNaN(size)) throw new Error('answer with a broken chunk');
      const dataStart = lineEnd + 2;
      if (joined.length < dataStart + size + 2) break;
      at = dataStart + size + 2;
      if (size === 0) {
        if (at !== joined.length) throw new Error('bytes after the end of an answer');
        return this.#finish(Buffer.concat(this.#chunks, this.#chunkBytes));
      }
      this.#chunks.push(joined.subarray(dataStart, dataStart + size));
      this.#chunkBytes += size;
    }
    this.#keep(joined.subarray(at));
    return undefined;
  }

  #finish(body: Buffer): Answer {
    if (this.#bodyBytes >= 0 && body.length !== this.#bodyBytes) {
      throw new Error('bytes after the end of an answer');
    }
    const answer = { status: this.#status, head: this.#head ?? '', body };
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#head = undefined;
    this.#chunks = [];
    this.#chunkBytes = 0;
    return answer;
  }
}
