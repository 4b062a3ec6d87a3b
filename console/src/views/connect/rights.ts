/** A token's rights in a few words. Pure. */
import type { Token } from '../../generated/types.gen.ts';

const WORDS: Readonly<Record<Token['scopes'][number], string>> = {
  'tools:read': 'list tools',
  'tools:call': 'call tools',
  'servers:read': 'see servers',
  'servers:write': 'change servers',
  'secrets:write': 'change secrets',
  admin: 'administer',
};

type Rights = Pick<Token, 'effective_scopes' | 'servers' | 'tools' | 'toolsets'>;

const countOf = (list: readonly unknown[] | null, one: string, more: string): string[] =>
  list === null ? [] : [`${list.length} ${list.length === 1 ? one : more}`];

/** Like `list tools, call tools; only of 1 server`. */
export function toRights({ effective_scopes: scopes, servers, tools, toolsets }: Rights): string {
  const may = scopes.length === 0 ? 'nothing' : scopes.map(scope => WORDS[scope]).join(', ');
  const limits = [
    ...countOf(servers, 'server', 'servers'),
    ...countOf(tools, 'pattern of tools', 'patterns of tools'),
    ...countOf(toolsets, 'toolset', 'toolsets'),
  ];
  return limits.length === 0 ? may : `${may}; only of ${limits.join(' and ')}`;
}
