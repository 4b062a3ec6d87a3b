/**
 * Search results in the format of hosts that have their own tool search. Both hosts put only the definitions of the found tools into the
 * model's context; the model then calls them by these names. Pure.
 *
 * Sources: Anthropic, "Tool search tool", custom tool search implementation
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool): a tool result of `tool_reference` blocks, each for a tool
 * listed in the request's `tools` with `defer_loading`. OpenAI, "Tool search", client-executed tool search
 * (developers.openai.com/api/docs/guides/tools-tool-search): a `tool_search_output` item that contains the tools themselves.
 */
import type { ListedItem } from '../gateway/listing.ts';

/** Returns the name, the schema and the description, if any, of a definition, as JSON values. */
function membersOf({ name, item }: ListedItem) {
  const read = (member: string): unknown => JSON.parse(item.raw.get(member) ?? 'null');
  const description = read('description');
  const schema = read('inputSchema') ?? { type: 'object' };
  return { name, schema, ...(typeof description === 'string' ? { description } : {}) };
}

/** Returns the content of a tool result, and the definitions it refers to, for `tools` of the next request. */
export function toAnthropicResult(found: readonly ListedItem[]) {
  const content = found.map(({ name }) => ({ type: 'tool_reference' as const, tool_name: name }));
  const tools = found.map(each => {
    const { schema, ...rest } = membersOf(each);
    return { ...rest, input_schema: schema, defer_loading: true };
  });
  return { content, tools };
}

/** Returns the item that answers a `tool_search_call`, without its `call_id`. */
export function toOpenaiOutput(found: readonly ListedItem[]) {
  const tools = found.map(each => {
    const { schema, ...rest } = membersOf(each);
    return { type: 'function' as const, ...rest, parameters: schema, defer_loading: true };
  });
  const head = { type: 'tool_search_output', execution: 'client', status: 'completed' } as const;
  return { ...head, tools };
}
