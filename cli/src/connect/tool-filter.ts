/**
 * Which tools of a server this machine offers, whatever the gateway allows; the same decision for listing and calling. A list item passes
 * unchanged or is left out. Pure.
 */
import { rawElements, rawMembers, type RawObject } from '../../../src/shared/json/json-spans.ts';
import type { Change } from './child-message.ts';

/** Names of tools; `*` stands for any characters. `deny` wins over `allow`. */
export interface ToolRules {
  /** Absent: all tools. */
  allow?: readonly string[];
  deny?: readonly string[];
}

export class ToolFilter {
  readonly #allow: readonly RegExp[] | undefined;
  readonly #deny: readonly RegExp[];

  constructor({ allow, deny = [] }: ToolRules = {}) {
    this.#allow = allow?.map(toPattern);
    this.#deny = deny.map(toPattern);
  }

  allows(name: string): boolean {
    if (this.#deny.some(pattern => pattern.test(name))) return false;
    return this.#allow?.some(pattern => pattern.test(name)) ?? true;
  }

  /** The members to replace in the response to `tools/list`. */
  ofList(response: RawObject): Change[] {
    if (!this.#allow && this.#deny.length === 0) return [];
    const result = response.get('result');
    const tools = result?.startsWith('{') ? rawMembers(result).get('tools') : undefined;
    if (!tools?.startsWith('[')) return [];
    const kept = rawElements(tools).filter(tool => this.#allowsItem(tool));
    return [[['result', 'tools'], `[${kept.join(',')}]`]];
  }

  /** A tool without a name is left out. */
  #allowsItem(tool: string): boolean {
    const { name } = (JSON.parse(tool) ?? {}) as { name?: unknown };
    return typeof name === 'string' && this.allows(name);
  }
}

function toPattern(pattern: string): RegExp {
  const parts = pattern.split('*').map(part => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
