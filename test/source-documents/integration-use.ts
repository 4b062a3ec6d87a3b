/** The report on an integration system: how its tools are used, and what bounds that. */
import type { DocumentLine } from './document.ts';

export const USE_LINES = [
  {
    id: 'I77',
    says: '“What were our top 5 products last month?” is answered by the ERP, also after a file was read',
  },
  {
    id: 'I78',
    says: 'operations stay in a sandbox, such as a base directory',
    does: 'the server keeps to it: paths reach it as they were sent, and its refusal the LLM',
    why: 'the report asks it of the server, which alone knows what a path means',
  },
  { id: 'I79', says: 'a tool that is too risky is not shown until it is turned on' },
  {
    id: 'I80',
    says: '`find_tool`: `alias:tool` is split; else a name that only one server has is enough',
    does: '`alias:tool` is; a name without a server is refused, and says so',
    why: 'it would mean another tool, or none, when another server is added',
  },
  { id: 'I81', says: 'a tool is given another name by configuration' },
  { id: 'I82', says: 'more than 99 % of calls succeed where the systems work' },
  { id: 'I83', says: 'arguments that are not flat: their schema and they arrive as they are' },
  {
    id: 'I84',
    says: 'the prompt discourages calls that are not needed; one that goes on is ended',
  },
  { id: 'I85', says: 'a conversation takes one turn at a time' },
  { id: 'I86', says: 'of many tools the LLM is shown a subset that fits' },
  {
    id: 'I87',
    says: 'a library of Python: `get_openai_functions()`, `handle_response(llm_response)`',
    does: 'a service: `GET /tools?format=openai-chat`, `POST /tools/execute`',
    why: 'programs in any language use it, and none of them holds the keys of servers',
  },
  {
    id: 'I88',
    says: 'an LLM without function calling is told of the tools in its prompt, and answers with JSON',
  },
  { id: 'I90', says: 'other tools of a server are there too: `edit_block`, `system_info`' },
  { id: 'I92', says: 'all transmissions are over HTTPS, but to the machine itself' },
] as const satisfies readonly DocumentLine[];

export type UseLine = (typeof USE_LINES)[number]['id'];
