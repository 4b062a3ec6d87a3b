/** The dialects by their names. */
import { ANTHROPIC_RULES } from './anthropic-schema.ts';
import { ANTHROPIC } from './anthropic.ts';
import type { Dialect, Format } from './dialect.ts';
import { GEMINI_RULES } from './gemini-schema.ts';
import { GEMINI } from './gemini.ts';
import { toFittingNames, type NameRule } from './names.ts';
import { OPENAI_CHAT } from './openai-chat.ts';
import { OPENAI_RESPONSES } from './openai-responses.ts';
import { OPENAI_RULES } from './openai-schema.ts';

const DIALECTS: Record<Format, Dialect> = {
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

/** Returns the dialect of a format. */
export const dialectOf = (format: Format): Dialect => DIALECTS[format];

const NAMES: Record<Format, NameRule> = {
  'openai-chat': OPENAI_RULES.names,
  'openai-responses': OPENAI_RULES.names,
  anthropic: ANTHROPIC_RULES.names,
  gemini: GEMINI_RULES.names,
};

/** Maps the names of tools to their names in a format. */
export const toDialectNames = (
  format: Format,
  tools: readonly { name: string }[],
): Map<string, string> =>
  toFittingNames(
    tools.map(({ name }) => name),
    NAMES[format],
  );
