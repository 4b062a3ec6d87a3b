/**
 * Task ids as clients hold them: the server's own id, sealed with the server, where it
 * is, the era and the upstream session it was made in, and bound to the principal. Nothing about a task is stored here;
 * whoever cannot open an id learns only that there is no such task. Equal tasks have equal ids.
 * Source: MCP 2026-07-28, tasks extension, security considerations; 2025-11-25, tasks, isolation.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromBase64Url, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { Era } from '../../shared/protocol.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';

/** A task where it is. */
export interface HeldTask {
  /** In whose form the task was made, and so must be asked for. */
  era: Era;
  serverId: string;
  /** Where the server was: an id is not shown to whoever is there later. */
  origin: string;
  /** The server's own id. */
  taskId: string;
  /** Name of the object whose session at the server made it; absent where the server keeps none. */
  owner?: string | undefined;
}

export interface TaskIds {
  /** @throws PorticoError `upstream_bad_message` where the server's id is none, or too long */
  seal(principalId: string, task: HeldTask): Promise<string>;
  /** The task, or undefined where the id was not made here for this principal. */
  open(principalId: string, sealed: string): Promise<HeldTask | undefined>;
}

/** Longest id of a server, in bytes: a sealed one must fit in the `Mcp-Name` header. */
export const MAX_OWN_ID_BYTES = 2_048;
/** No sealed id is longer, in characters. */
export const MAX_SEALED_CHARS = 6_000;

type Plain = [era: Era, serverId: string, origin: string, taskId: string, owner?: string | null];

const isCanonical = (text: string) => {
  const bytes = fromBase64Url(text);
  return bytes !== undefined && toBase64Url(bytes) === text;
};

/** Task ids under a key ring. */
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
      // One task has one id, so that nobody can make another of it that works.
      if (!isCanonical(sealed.slice(sealed.indexOf('.') + 1))) return undefined;
      const plain = await keys.open('task', sealed, principalId);
      if (plain === undefined) return undefined;
      const [era, serverId, origin, taskId, owner] = JSON.parse(plain) as Plain;
      return { era, serverId, origin, taskId, owner: owner ?? undefined };
    },
  };
}
