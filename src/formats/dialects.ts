/** The dialects by their names. */
import { ANTHROPIC } from './anthropic.ts';
import type { Dialect, Format } from './dialect.ts';
import { GEMINI } from './gemini.ts';
import { OPENAI_CHAT } from './openai-chat.ts';
import { OPENAI_RESPONSES } from './openai-responses.ts';

const DIALECTS: Record<Format, Dialect> = {
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

/** The dialect of a format. */
export const dialectOf = (format: Format): Dialect => DIALECTS[format];
