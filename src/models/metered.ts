/**
 * Token counts of a request to a model: an estimate before it is sent, and afterwards the model's own count, or an estimate where it
 * reports none. Pure.
 */
import type { Dialect, TokenCount, TurnReply, TurnRequest } from './formats/dialect.ts';

/** An answer with known token counts. */
export interface CountedReply extends TurnReply {
  tokens: TokenCount;
}

/** About how many characters make a token. */
const CHARS_PER_TOKEN = 3;

export const toLikelyTokens = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Estimates the tokens of a request from the length of its body. */
export const toInputTokens = (dialect: Dialect, request: TurnRequest): number =>
  toLikelyTokens(JSON.stringify(dialect.toRequest(request)).length);

/** @param input estimated tokens of the request */
export function toCounted(reply: TurnReply, input: number): CountedReply {
  const { text, calls, tokens } = reply;
  if (tokens) return { ...reply, tokens };
  const said = text.length + JSON.stringify(calls).length;
  return { ...reply, tokens: { input, output: toLikelyTokens(said) } };
}
