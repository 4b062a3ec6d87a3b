/**
 * Decides whether a request may be sent to a model at all: by its size, invisible characters, and patterns that the operator refuses. Pure;
 * each refusal has one named reason. It stops plain mistakes and known texts; what a model may do is decided by `request-guard.ts`, not
 * here.
 */
import { matches } from '../../shared/util/name-pattern.ts';

export type InputReason =
  'request_empty' | 'request_too_large' | 'request_control_characters' | 'request_blocked';

export interface InputRules {
  /** Longest request, in UTF-16 units. */
  maxChars: number;
  /** What no request may contain; `*` stands for any characters, and case is ignored. */
  blocked: readonly string[];
}

/** Control characters except tabs and line ends, marks that change the direction of text, invisible tags, unpaired surrogates. */
const UNSEEN = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\p{Cs}/u;

/** @returns why the request is refused; undefined where it may continue */
export function decideInput(
  request: string,
  { maxChars, blocked }: InputRules,
): InputReason | undefined {
  if (request.length > maxChars) return 'request_too_large';
  if (request.trim() === '') return 'request_empty';
  if (UNSEEN.test(request)) return 'request_control_characters';
  const plain = toPlain(request);
  const isBlocked = blocked.some(pattern => matches(`*${toPlain(pattern)}*`, plain));
  return isBlocked ? 'request_blocked' : undefined;
}

/** Returns the same text for texts that read the same: compatibility forms, case and white space make no difference. */
const toPlain = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
