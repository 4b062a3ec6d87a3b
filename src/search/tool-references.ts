/**
 * Search results in the format of hosts that have their own tool search. Both hosts put only the definitions of the found tools into the
 * model's context; the model then calls them by these names. Pure.
 *
 * Sources: Anthropic, "Tool search tool", custom tool search implementation
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool): a tool result of `tool_reference` blocks, each for a tool
 * listed in the request's `tools` with `defer_loading`. OpenAI, "Tool search", client-executed tool search
 * (developers.openai.com/api/docs/guides/tools-tool-search): a `tool_search_output` item that contains the tools themselves.
 */
import type { JsonObject } from '../shared/protocol.ts';

const toDeferred = (tool: JsonObject) => ({ ...tool, defer_loading: true });

/**
 * Returns the content of a tool result, and the definitions it refers to, for `tools` of the next request.
 * @param found definitions as `tools` of a Messages request
 */
export function toAnthropicResult(found: readonly JsonObject[]) {
  const content = found.map(({ name }) => ({
    type: 'tool_reference' as const,
    tool_name: String(name),
  }));
  return { content, tools: found.map(toDeferred) };
}

/**
 * Returns the item that answers a `tool_search_call`, without its `call_id`.
 * @param found definitions as `tools` of a response
 */
export function toOpenaiOutput(found: readonly JsonObject[]) {
  const head = { type: 'tool_search_output', execution: 'client', status: 'completed' } as const;
  return { ...head, tools: found.map(toDeferred) };
}
