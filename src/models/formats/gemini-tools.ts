/** Exports tools as `tools` of `generateContent`: a single entry with all functions. Rules: `gemini-schema.ts`. */
import type { ExportedTools, ExportOptions } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import { GEMINI_RULES } from './gemini-schema.ts';
import type { CanonicalTool } from './canonical-form.ts';

export const toGeminiTools = (
  tools: readonly CanonicalTool[],
  options: ExportOptions,
): ExportedTools =>
  exportTools(tools, options, {
    ...GEMINI_RULES,
    toDefinitions: definitions => {
      const functionDeclarations = definitions.map(({ name, description, schema }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        parametersJsonSchema: schema,
      }));
      return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
    },
  });
