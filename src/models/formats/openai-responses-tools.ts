/**
 * Exports tools as `tools` of a response. `strict` is always set, because without it the API tries to be strict. Rules: `openai-schema.ts`.
 */
import type { ExportedTools, ExportOptions } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import type { CanonicalTool } from './canonical-form.ts';
import { OPENAI_RULES } from './openai-schema.ts';

export const toResponsesTools = (
  tools: readonly CanonicalTool[],
  options: ExportOptions,
): ExportedTools =>
  exportTools(tools, options, {
    ...OPENAI_RULES,
    toDefinitions: definitions =>
      definitions.map(({ name, description, schema, isStrict }) => ({
        type: 'function',
        name,
        ...(description === undefined ? {} : { description }),
        parameters: schema,
        strict: isStrict,
      })),
  });
