/** Exports tools as `tools` of a Messages request. Rules: `anthropic-schema.ts`. */
import { ANTHROPIC_RULES } from './anthropic-schema.ts';
import type { ExportedTools, ExportOptions } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import type { CanonicalTool } from './canonical-form.ts';

export const toAnthropicTools = (
  tools: readonly CanonicalTool[],
  options: ExportOptions,
): ExportedTools =>
  exportTools(tools, options, {
    ...ANTHROPIC_RULES,
    toDefinitions: definitions =>
      definitions.map(({ name, description, schema, isStrict }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        input_schema: schema,
        ...(isStrict ? { strict: true } : {}),
      })),
  });
