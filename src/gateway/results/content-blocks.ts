/**
 * Finds the blocks of content in results of tools, prompts and tasks, and changes some of them without touching any other byte. The parsed
 * result decides, so that a result with nothing to change is not read again. Pure, linear.
 */
import { editElements, editMember } from '../../shared/json/json-edit.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Turns raw JSON into other raw JSON. */
export type Edit = (raw: string) => string;
/** Returns the edit that a block needs; undefined if it stays as it is. */
export type BlockEdit = (block: JsonObject) => Edit | undefined;

/**
 * @param result raw result of a call or a prompt, or a task that has one
 * @param parsed the same, parsed
 */
export function editBlocks(result: string, parsed: JsonObject, ofBlock: BlockEdit): string {
  return editOf(parsed, ofBlock)?.(result) ?? result;
}

/** Returns an edit of the value under a key. */
export function within(key: string, edit: Edit | undefined): Edit | undefined {
  return edit && (raw => editMember(raw, key, edit));
}

function editOf(parsed: JsonObject, ofBlock: BlockEdit, isInTask = false): Edit | undefined {
  const inner = isObject(parsed['result']) && !isInTask ? parsed['result'] : undefined;
  const ofValue = (value: unknown) => (isObject(value) ? ofBlock(value) : undefined);
  // A message of a prompt has one block.
  const ofMessage = (message: unknown) =>
    isObject(message) ? within('content', ofValue(message['content'])) : undefined;
  return all(
    within('content', ofList(parsed['content'], ofValue)),
    within('messages', ofList(parsed['messages'], ofMessage)),
    within('result', inner && editOf(inner, ofBlock, true)),
  );
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

function all(...edits: readonly (Edit | undefined)[]): Edit | undefined {
  const given = edits.filter(edit => edit !== undefined);
  if (given.length === 0) return undefined;
  return raw => given.reduce((text, edit) => edit(text), raw);
}
