/**
 * The definitions that approvals cover: each tool of a server, and its instructions. A fingerprint is the SHA-256 of the canonical JSON of
 * the whole definition, because some host may show any member to a model or base a decision on it. Pure but for the hash function.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import { rawMembers } from '../../shared/json/json-spans.ts';
import { MAX_NAME_CHARS, type ApprovalKind } from '../registry/approval.ts';
import { shortSkeleton } from './skeleton.ts';

export interface Definition {
  id: string;
  kind: ApprovalKind;
  name: string;
  skeleton: string;
  fingerprint: string;
  /** Raw JSON as the server wrote it. */
  text: string;
}

/** Computes the id of an approval. */
export function approvalId(serverId: string, kind: ApprovalKind, name: string): Promise<string> {
  return sha256Hex(JSON.stringify([serverId, kind, name]));
}

/** @param text JSON of a tool, or of the instructions */
export function fingerprintOf(text: string): Promise<string> {
  return sha256Hex(canonicalJson(text));
}

/** @param tools raw JSON of each; undefined takes the place of a tool whose name is too long for an approval */
export function toDefinitions(
  serverId: string,
  tools: readonly string[],
): Promise<(Definition | undefined)[]> {
  return Promise.all(
    tools.map(async text => {
      const name = JSON.parse(rawMembers(text).get('name') ?? '""') as string;
      if (name.length > MAX_NAME_CHARS) return undefined;
      const [id, skeleton, fingerprint] = await Promise.all([
        approvalId(serverId, 'tool', name),
        shortSkeleton(name, sha256Hex),
        fingerprintOf(text),
      ]);
      return { id, kind: 'tool' as const, name, skeleton, fingerprint, text };
    }),
  );
}

export async function toInstructions(serverId: string, instructions: string): Promise<Definition> {
  const text = JSON.stringify(instructions);
  return {
    id: await approvalId(serverId, 'instructions', ''),
    kind: 'instructions',
    name: '',
    skeleton: '',
    fingerprint: await fingerprintOf(text),
    text,
  };
}
