/**
 * What a question to a model uses: its likely tokens before it is asked, and those it used, as the model counted them, or about as many
 * where it does not say. Pure.
 */
import type { Dialect, TokenCount, TurnReply, TurnRequest } from './formats/dialect.ts';

/** An answer whose tokens are known. */
export interface CountedReply extends TurnReply {
  tokens: TokenCount;
}

/** About how many characters are a token. */
const CHARS_PER_TOKEN = 3;

export const toLikelyTokens = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Tokens that a question has before it is asked, as its body is long. */
export const toInputTokens = (dialect: Dialect, request: TurnRequest): number =>
  toLikelyTokens(JSON.stringify(dialect.toRequest(request)).length);

/** @param input likely tokens of the question */
export function toCounted(reply: TurnReply, input: number): CountedReply {
  const { text, calls, tokens } = reply;
  if (tokens) return { ...reply, tokens };
  const said = text.length + JSON.stringify(calls).length;
  return { ...reply, tokens: { input, output: toLikelyTokens(said) } };
}
