/**
 * URIs of resources in results of tools and prompts, as an endpoint of many servers gives them: qualified like those it lists,
 * so that a link is read from the server that gave it and from no other. Every other byte stays. Pure.
 */
import { editElements, editMember } from '../lib/json-edit.ts';
import { isObject, type JsonObject } from '../protocol.ts';
import { toQualifiedUri } from './qualified-uri.ts';

type Edit = (raw: string) => string;

/**
 * @param result raw result of a call or a prompt, or a task that has one
 * @param parsed the same parsed: a result without links is not read again
 */
export function withQualifiedLinks(result: string, parsed: JsonObject, server: string): string {
  return editOf(parsed, server)?.(result) ?? result;
}

/** What a result needs; undefined where it has no links. */
function editOf(parsed: JsonObject, server: string, isInTask = false): Edit | undefined {
  const inner = isObject(parsed['result']) && !isInTask ? parsed['result'] : undefined;
  return all(
    within(
      'content',
      ofList(parsed['content'], block => ofBlock(block, server)),
    ),
    within(
      'messages',
      ofList(parsed['messages'], message => ofMessage(message, server)),
    ),
    within('result', inner && editOf(inner, server, true)),
  );
}

/** A message of a prompt has one block. */
function ofMessage(message: unknown, server: string): Edit | undefined {
  return isObject(message) ? within('content', ofBlock(message['content'], server)) : undefined;
}

function ofBlock(block: unknown, server: string): Edit | undefined {
  if (!isObject(block)) return undefined;
  const qualify = within('uri', raw => {
    const uri: unknown = JSON.parse(raw);
    return typeof uri === 'string' ? JSON.stringify(toQualifiedUri(server, uri)) : raw;
  });
  if (block['type'] === 'resource_link') return qualify;
  return block['type'] === 'resource' ? within('resource', qualify) : undefined;
}

function ofList(list: unknown, editFor: (value: unknown) => Edit | undefined): Edit | undefined {
  if (!Array.isArray(list)) return undefined;
  const edits = list.map(editFor);
  if (edits.every(edit => edit === undefined)) return undefined;
  return raw => {
    let i = 0;
    return editElements(raw, element => edits[i++]?.(element) ?? element);
  };
}

function within(key: string, edit: Edit | undefined): Edit | undefined {
  return edit && (raw => editMember(raw, key, edit));
}

function all(...edits: readonly (Edit | undefined)[]): Edit | undefined {
  const given = edits.filter(edit => edit !== undefined);
  if (given.length === 0) return undefined;
  return raw => given.reduce((text, edit) => edit(text), raw);
}
