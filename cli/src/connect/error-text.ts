/**
 * Picks the line of stderr that explains why a program ended: the one that names the error, if there is one, without its stack and without
 * what looks like a secret. Pure.
 */
import { beginningWithoutSecrets } from '../../../src/shared/redaction/secret-patterns.ts';

/** The first line of npm's error that is more than a code. */
const OF_NPM = /^npm (?:error|ERR!) (?!code |errno |syscall |path )/;
/** `TypeError: …`, `error: …`, `mcp.Error [CODE]: …`, `panic: …`, `thread 'main' panicked at …`. */
const OF_ERROR =
  /^(?:[\w.]*(?:error|exception)\b[^:]{0,40}:|fatal\b|panic\b|thread '.*' panicked)/i;

const MAX_CHARS = 500;

/** @returns one line of at most 500 characters; empty where there was no output */
export function toSaid(errorOutput: string): string {
  const lines = errorOutput
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '');
  const ofNpm = lines.find(line => OF_NPM.test(line));
  const line = ofNpm ?? lines.findLast(text => OF_ERROR.test(text)) ?? lines.at(-1) ?? '';
  return beginningWithoutSecrets(line, MAX_CHARS);
}
