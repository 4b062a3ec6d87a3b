/** Reads the tools to be classified from a catalog's text, each with the fingerprint of its definition. */
import { rawElements, rawMembers } from '../../shared/json/json-spans.ts';
import { fingerprintOf } from '../../servers/approvals/definition.ts';
import { toSearchedTool } from '../index/searched-tool.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { Question } from './classifier.ts';

/** Longest name of a tool that is classified, in characters. */
export const MAX_TOOL_NAME_CHARS = 1_000;

/** @param catalog text of the server's catalog; of two tools with the same name the last counts, as in a call */
export async function toQuestions(
  { name, description }: Server,
  catalog: string,
): Promise<Question[]> {
  const server = { name, description };
  const elements = rawElements(rawMembers(catalog).get('tools') ?? '[]');
  const questions = await Promise.all(
    elements.map(async element => {
      const tool = toSearchedTool(rawMembers(element));
      return { name: tool.name, tool, server, fingerprint: await fingerprintOf(element) };
    }),
  );
  const byName = new Map(questions.map(question => [question.name, question]));
  return [...byName.values()].filter(question => question.name.length <= MAX_TOOL_NAME_CHARS);
}
