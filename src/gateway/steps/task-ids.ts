/**
 * Makes the task ids that clients get: the server's own id, sealed with the server, its address, the era and the upstream session that made
 * the task, and bound to the principal. Nothing about a task is stored here; a caller that cannot open an id learns only that there is no
 * such task. Equal tasks have equal ids.
 * Source: MCP 2026-07-28, tasks extension, security considerations; 2025-11-25, tasks, isolation.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromBase64Url, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { Era } from '../../shared/protocol.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';

/** What a sealed task id holds. */
export interface HeldTask {
  /** The era in whose form the task was made and must be requested. */
  era: Era;
  serverId: string;
  /** Where the server was then: an id is not shown to a server that is there later. */
  origin: string;
  /** The server's own id. */
  taskId: string;
  /** Name of the object whose upstream session made the task; absent if the server keeps no sessions. */
  owner?: string | undefined;
}

export interface TaskIds {
  /** @throws PorticoError `upstream_bad_message` if the server's id is empty or too long */
  seal(principalId: string, task: HeldTask): Promise<string>;
  /** Returns the task; undefined if the id was not made here for this principal. */
  open(principalId: string, sealed: string): Promise<HeldTask | undefined>;
}

/** Longest id of a server, in bytes: a sealed one must fit in the `Mcp-Name` header. */
export const MAX_OWN_ID_BYTES = 2_048;
/** Longest sealed id, in characters. */
export const MAX_SEALED_CHARS = 6_000;

type Plain = [era: Era, serverId: string, origin: string, taskId: string, owner?: string | null];

const isCanonical = (text: string) => {
  const bytes = fromBase64Url(text);
  return bytes !== undefined && toBase64Url(bytes) === text;
};

/** Seals and opens task ids under a key ring. */
export function createTaskIds(keys: KeyRing): TaskIds {
  return {
    async seal(principalId, { era, serverId, origin, taskId, owner }) {
      const text = JSON.stringify(taskId);
      if (taskId === '' || new TextEncoder().encode(text).length > MAX_OWN_ID_BYTES) {
        throw new PorticoError('upstream_bad_message', 'The task id of the server is not valid');
      }
      const plain = JSON.stringify([era, serverId, origin, taskId, owner]);
      return keys.sealAlike('task', plain, principalId);
    },

    async open(principalId, sealed) {
      if (sealed.length > MAX_SEALED_CHARS) return undefined;
      // A task has exactly one id, so that nobody can make another one that works.
      if (!isCanonical(sealed.slice(sealed.indexOf('.') + 1))) return undefined;
      const plain = await keys.open('task', sealed, principalId);
      if (plain === undefined) return undefined;
      const [era, serverId, origin, taskId, owner] = JSON.parse(plain) as Plain;
      return { era, serverId, origin, taskId, owner: owner ?? undefined };
    },
  };
}
